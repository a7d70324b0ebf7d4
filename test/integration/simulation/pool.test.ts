import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startPool } from '../../../src/simulation/pool/pool.ts'
import type { Pool, PoolOptions } from '../../../src/simulation/pool/pool.ts'
import { findPool, stopPool } from '../../../src/simulation/pool/pool-process.ts'
import { chat, post } from './started.ts'

let folder = ''
const pools: Pool[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pool-'))
})
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
  await rm(folder, { recursive: true })
})

async function given(options: PoolOptions = {}): Promise<Pool> {
  const pool = await startPool({ speed: 100, endpointsFile: join(folder, 'endpoints.yaml'), ...options })
  pools.push(pool)
  return pool
}

interface Announced {
  readonly endpoints: readonly { readonly name: string; readonly address: string; readonly port: string; readonly labels: Readonly<Record<string, string>> }[]
}
const announced = async (): Promise<Announced['endpoints']> => (parse(await readFile(join(folder, 'endpoints.yaml'), 'utf8')) as Announced).endpoints

describe('simulated pool', () => {
  it('announces endpoints of each role that serve', async () => {
    await given({ decode: 2, prefill: 1, encode: 1, plain: 1 })
    const endpoints = await announced()
    expect(endpoints.map(({ name, labels }) => [name, labels['llm-d.ai/role']])).toEqual([
      ['decode-0', 'decode'], ['decode-1', 'decode'], ['prefill-0', 'prefill'], ['encode-0', 'encode'], ['plain-0', undefined],
    ])
    for (const { address, port } of endpoints) {
      expect((await fetch(`http://${address}:${port}/health`)).status).toBe(200)
    }
  })

  it('announces where its KV events are, and nothing of the kind where there are none', async () => {
    const pool = await given({ decode: 2, kvEvents: 0 })
    const ports = (await announced()).map(({ labels }) => [labels['signalbox/kv-events-port'], labels['signalbox/kv-replay-port']])
    expect(ports).toEqual(pool.endpoints.map(({ kvEvents }) => [String(kvEvents?.port), String(kvEvents?.replayPort)]))
    expect(new Set(ports.flat()).size).toBe(4)
    await pool.close()
    await given({ decode: 1 })
    expect(Object.keys((await announced())[0]?.labels ?? {})).not.toContain('signalbox/kv-events-port')
  })

  it('is found by its state file while it lives, and not after', async () => {
    const pool = await given({ decode: 1, model: 'm', namespace: 'ns' })
    const found = await findPool(pool.stateFile as string)
    expect(found).toMatchObject({ id: pool.id, pid: process.pid, controlUrl: pool.controlUrl, model: 'm', speed: 100, endpoints: [{ name: 'decode-0', namespace: 'ns', role: 'decode', port: pool.endpoints[0]?.port }] })
    await pool.close()
    expect(await findPool(pool.stateFile as string)).toBeUndefined()
    expect(await announced()).toEqual([])
  })

  it('is not taken for another pool that took its place on the same port', async () => {
    const pool = await given({ decode: 1 })
    const old = await readFile(pool.stateFile as string)
    const controlPort = Number(new URL(pool.controlUrl).port)
    await pool.close()
    const next = await given({ controlPort, endpointsFile: join(folder, 'next.yaml') })
    await (await import('node:fs/promises')).writeFile(join(folder, 'endpoints.pool.json'), old)
    expect(next.controlUrl).toBe(pool.controlUrl)
    expect(await findPool(join(folder, 'endpoints.pool.json'))).toBeUndefined()
  })

  it('tells its state over the wire', async () => {
    const pool = await given({ decode: 1, prefill: 1 })
    await post(`${pool.endpoints[0]?.url}/v1/chat/completions`, chat('x'))
    const state = (await (await fetch(`${pool.controlUrl}/pool`)).json()) as unknown
    expect(state).toMatchObject({ id: pool.id, running: 0, waiting: 0, endpoints: [{ name: 'decode-0', served: { plain: 1 } }, { name: 'prefill-0', served: { plain: 0 } }] })
  })

  it('grows and shrinks on demand, file first', async () => {
    const pool = await given({ decode: 1 })
    const added = await post(`${pool.controlUrl}/pool/add`, { role: 'prefill' })
    expect(added.body).toMatchObject({ name: 'prefill-0', role: 'prefill' })
    expect((await announced()).map(({ name }) => name)).toEqual(['decode-0', 'prefill-0'])
    const gone = pool.endpoints[0]?.url ?? ''
    expect((await post(`${pool.controlUrl}/pool/remove`, { name: 'decode-0' })).status).toBe(200)
    expect((await announced()).map(({ name }) => name)).toEqual(['prefill-0'])
    await expect(fetch(`${gone}/health`)).rejects.toThrow()
    expect((await post(`${pool.controlUrl}/pool/remove`, { name: 'decode-0' })).status).toBe(404)
  })

  it('keeps the file true when many come and go at once', async () => {
    const pool = await given()
    await Promise.all(Array.from({ length: 10 }, (_, i) => pool.add('decode', `d${i}`)))
    await Promise.all(Array.from({ length: 5 }, (_, i) => pool.remove(`d${i * 2}`)))
    expect((await announced()).map(({ name }) => name).toSorted()).toEqual(['d1', 'd3', 'd5', 'd7', 'd9'])
  })

  it('sets faults on an endpoint, even on one that refuses connections', async () => {
    const pool = await given({ decode: 1 })
    const url = `${pool.endpoints[0]?.url}/health`
    expect((await post(`${pool.controlUrl}/pool/faults`, { name: 'decode-0', refuse: true })).status).toBe(200)
    await expect(fetch(url)).rejects.toThrow()
    expect((await post(`${pool.controlUrl}/pool/faults`, { name: 'decode-0' })).status).toBe(200)
    expect((await fetch(url)).status).toBe(200)
  })

  it.each([
    ['add', { role: 'decoder' }], ['add', { name: 'decode-0' }], ['add', { name: '' }], ['remove', {}],
    ['faults', { name: 'none' }], ['faults', { name: 'decode-0', slow: 1 }],
  ])('refuses %s with %j', async (act, body) => {
    const pool = await given({ decode: 1 })
    const reply = await post(`${pool.controlUrl}/pool/${act}`, body)
    expect(reply.status).toBe(400)
    expect(reply.body).toHaveProperty('error.message')
  })

  it('ends when told over the wire', async () => {
    const pool = await given({ decode: 1 })
    const found = await findPool(pool.stateFile as string)
    if (found === undefined) throw new Error('the pool was not found')
    await stopPool(found)
    await pool.closed
    expect(await findPool(pool.stateFile as string)).toBeUndefined()
  })

  it('leaves nothing behind when one of its ports is taken', async () => {
    const pool = await given({ decode: 1 })
    const taken = pool.endpoints[0]?.port as number
    const file = join(folder, 'second.yaml')
    await expect(startPool({ decode: 2, portBase: taken - 1, endpointsFile: file })).rejects.toThrow('EADDRINUSE')
    await expect(fetch(`http://127.0.0.1:${taken - 1}/health`)).rejects.toThrow()
    expect(await findPool(join(folder, 'second.pool.json'))).toBeUndefined()
  })
})
