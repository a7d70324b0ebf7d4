import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as wire from '../../../src/wire/index.ts'
import type { Reader } from '../../../src/wire/index.ts'
import { tokenOf } from '../../../src/adapters/nats/names.ts'
import { settled } from '../kv-events/known-blocks.ts'
import { chatRequest, NatsWorld, rowsOf } from './engine-on-nats.ts'
import { preciseConfiguration } from './precise.ts'

interface Document {
  readonly channels: Readonly<Record<string, { readonly address: string; readonly messages: Readonly<Record<string, unknown>> }>>
  readonly operations: Readonly<Record<string, { readonly action: string; readonly channel: { readonly $ref: string }; readonly reply?: { readonly messages: readonly { readonly $ref: string }[] } }>>
  readonly components: { readonly messages: Readonly<Record<string, { readonly payload: { readonly schema: { readonly $ref: string } } }>> }
}

const SCHEMAS = fileURLToPath(new URL('../../../schemas/', import.meta.url))
const document = parse(readFileSync(`${SCHEMAS}asyncapi.yaml`, 'utf8')) as Document
const WAIT = { timeout: 15_000, interval: 50 }

/** A channel's address as a pattern of subjects. */
const patternOf = (address: string): RegExp =>
  new RegExp(`^${address.replace(/[.$]/g, '\\$&').replace('{prefix}', 'signalbox\\.v1').replace('{stem}_{pool}', 'signalbox_default').replace('{pool}', 'default').replace(/\{\w+\}/g, '=?[A-Za-z0-9_-]+')}$`)

const decoderOf = (message: string): ((reader: Reader) => unknown) | undefined => (wire as unknown as Record<string, (reader: Reader) => unknown>)[`decode${message}`]

describe('the AsyncAPI document', { timeout: 90_000 }, () => {
  let world: NatsWorld

  beforeAll(async () => {
    world = await NatsWorld.start()
  })
  afterAll(() => world.close())

  it('names messages that the schemas have, each in the file that it says', () => {
    for (const [name, { payload }] of Object.entries(document.components.messages)) {
      expect(readFileSync(SCHEMAS + payload.schema.$ref, 'utf8')).toContain(`message ${name} {`)
      expect(decoderOf(name)).toBeTypeOf('function')
    }
    const used = [
      ...Object.values(document.channels).flatMap(({ messages }) => Object.keys(messages)),
      ...Object.values(document.operations).flatMap(({ reply }) => reply?.messages.map(({ $ref }) => $ref.replace(/^.*\//, '')) ?? []),
    ]
    expect(new Set(used)).toEqual(new Set(Object.keys(document.components.messages)))
    expect(new Set(Object.values(document.operations).map(({ channel }) => channel.$ref.replace('#/channels/', '')))).toEqual(new Set(Object.keys(document.channels)))
  })

  it('given a pool at work, then every subject of its own is in the document, every channel is used, and each message is what it says', async () => {
    const { connection } = await world.server.link()
    const seen: { readonly subject: string; readonly data: Uint8Array }[] = []
    connection.subscribe('>', { callback: (_error, { subject, data }) => void seen.push({ subject, data: data.slice() }) })
    await connection.flush()
    const endpoint = await world.endpoint({ kvEvents: { port: 0, replayPort: 0 } })
    const engine = await world.engine({ journal: 'nats' }, undefined, preciseConfiguration(world.server.folder, endpoint.url))
    await world.agent('default/model-a', endpoint)
    await expect.poll(async () => (await rowsOf(engine))[0]?.ageMs ?? null, WAIT).not.toBeNull()
    const request = await (await world.client()).schedule(chatRequest())
    await request.ended({ cause: 'natural', status: 200 })
    await settled(engine, [endpoint])
    await expect.poll(() => engine.host.actor.engine.view.requests.size, WAIT).toBe(0)
    await engine.close()
    await connection.flush()
    const channels = Object.entries(document.channels).map(([name, { address, messages }]) => ({ name, pattern: patternOf(address), message: Object.keys(messages)[0] ?? '' }))
    const own = seen.filter(({ subject }) => subject.startsWith('signalbox.') || subject.startsWith('$KV.'))
    const used = new Set<string>()
    for (const { subject, data } of own) {
      const channel = channels.find(({ pattern }) => pattern.test(subject))
      expect(channel, `${subject} is not in the document`).toBeDefined()
      used.add(channel?.name ?? '')
      if (data.length > 0) expect(() => wire.fromBytes(decoderOf(channel?.message ?? '') as never, data)).not.toThrow()
    }
    expect(used).toEqual(new Set(Object.keys(document.channels)))
    expect(own.some(({ subject }) => subject === `signalbox.v1.default.telemetry.${tokenOf('default/model-a')}`)).toBe(true)
  })
})
