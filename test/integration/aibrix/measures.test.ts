import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SystemClock } from '../../../src/adapters/clock/index.ts'
import { openJournal } from '../../../src/app/journal-files.ts'
import { load } from '../../../src/app/load.ts'
import { addressText, serve } from '../../../src/app/serve.ts'
import type { Serving } from '../../../src/app/serve.ts'
import { explanationText } from '../../../src/cli/explain-text.ts'
import type { PodMetrics } from '../../../src/aibrix/index.ts'
import type { Clock } from '../../../src/actors/clock.ts'
import { AibrixMetricsProducer } from '../../../src/plugins/producer/aibrix-metrics-producer/index.ts'
import { engineOptions, explain, type Explanation } from '../../../src/replay/index.ts'
import type { Engine } from '../../../src/simulation/index.ts'
import { fleetIn, flagsIn, temporaryFolder } from '../../story/server.ts'
import { ask, chat, configurationOf } from './fleet.ts'

/** The system's clock, which can be put forward: history without waiting for it. */
class JumpingClock implements Clock {
  private readonly clock: SystemClock
  private ahead = 0

  constructor(notBefore: number) {
    this.clock = new SystemClock(notBefore)
  }

  now(): number {
    return this.clock.now() + this.ahead
  }

  wakeAt(at: number, callback: () => void): void {
    this.clock.wakeAt(at - this.ahead, callback)
  }

  stop(): void {
    this.clock.stop()
  }

  jump(seconds: number): void {
    this.ahead += seconds * 1_000_000
  }
}

type Measured = Partial<PodMetrics> & { readonly endpoint: string }

/** Settles at the first turn after which the producer's measures of both endpoints are such. */
const measured = ({ host }: Serving, isSuch: (prefill: Measured, decode: Measured) => boolean): Promise<void> => {
  const producer = host.actor.engine.view.pipeline.plugins.find((plugin) => plugin instanceof AibrixMetricsProducer)
  return new Promise((resolve) => {
    const turns = host.actor.turns.subscribe(() => {
      const rows = (producer?.dump() ?? []) as readonly Measured[]
      const [decode, prefill] = ['default/decode-0', 'default/prefill-0'].map((id) => rows.find(({ endpoint }) => endpoint === id))
      if (decode === undefined || prefill === undefined || !isSuch(prefill, decode)) return
      turns.unsubscribe()
      resolve()
    })
  })
}

/** The position of a request once it was decided on. */
const decided = ({ host }: Serving, requestId: string): Promise<number> => new Promise((resolve) => {
  const turns = host.actor.turns.subscribe(({ turn: { record } }) => {
    const { input } = record.input ?? {}
    if (input?.kind !== 'requestReceived' || input.value.requestId !== requestId) return
    turns.unsubscribe()
    resolve(record.position)
  })
})

const positive = (...values: readonly (number | undefined)[]): boolean => values.every((value) => value !== undefined && value > 0)
const prompt = (name: string): string => `${name} keeps a list of every train that has passed the eastern gate. `.repeat(30)

/** A decision made while everything that an engine tells is above zero, as `signalbox explain` shows it: from the journal, or from the live engine. */
const explained = async (engine: Engine, journal: 'sqlite' | 'memory'): Promise<string> => {
  const folder = temporaryFolder()
  const pool = await fleetIn(folder.path, { decode: 1, prefill: 1, encode: 0, rolesets: 1, engine, speed: 50, timing: { maxRunning: 2, blockCount: 8192 } })
  const configuration = join(folder.path, 'configuration.yaml')
  writeFileSync(configuration, configurationOf({ prefixCacheBlockSize: 128 }))
  const loaded = await load({ files: [configuration], flags: flagsIn(folder.path, { journal }), pluginModules: [], allowExperimental: false, endpoints: join(folder.path, 'endpoints.yaml') })
  let clock: JumpingClock | undefined
  const serving = await serve({ ...loaded, log: () => undefined, clock: (notBefore) => (clock = new JumpingClock(notBefore)) })
  const url = `http://${addressText(serving.front)}`
  const leaving = new AbortController()
  const left: Promise<unknown>[] = []
  const leave = (content: string, more: Readonly<Record<string, unknown>> = {}, headers: Readonly<Record<string, string>> = {}): void =>
    void left.push(fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(chat(content, more)), signal: leaving.signal }).then((response) => response.text()).catch(() => 'left'))

  // What is to rise must have been heard before.
  await measured(serving, (prefill, decode) => prefill.kvCacheUsage !== undefined && decode.kvCacheUsage !== undefined)
  for (const name of ['anna', 'bert', 'carl']) await ask(url, chat(prompt(name)))
  // Long streams that go on slowly, more than run at once; then prefills that never end.
  await pool.setFaults('decode-0', { slowFactor: 25 })
  for (const name of ['dora', 'emil', 'fred']) leave(prompt(name), { stream: true, max_tokens: 30_000 })
  await measured(serving, (_prefill, decode) => positive(decode.runningRequests, decode.generationThroughput, decode.kvCacheUsage, decode.waitingRequests))
  await pool.setFaults('prefill-0', { slowFactor: 1e6 })
  for (const name of ['gerd', 'hans', 'ina']) leave(prompt(name))
  clock?.jump(12)
  const allocates = engine === 'sglang'
  await measured(serving, (prefill, decode) =>
    positive(decode.runningRequests, decode.generationThroughput, decode.kvCacheUsage, decode.waitingRequests, decode.drainRate1m, prefill.waitingRequests, prefill.queueDrainRate1m) &&
    (allocates ? positive(prefill.prefillPreallocQueue, decode.decodePreallocQueue) : positive(prefill.prefillTime?.count, prefill.prefillTime?.sumSeconds)))
  const last = decided(serving, 'last')
  leave(prompt('last'), {}, { 'x-request-id': 'last' })
  const request = await last
  const receipts = serving.host.actor.engine.receipts(request)
  leaving.abort()
  await Promise.all(left)
  await serving.close()
  await pool.close()
  const found = journal === 'memory' ? { requestId: 'last', request, records: [], receipts } : explainedIn(folder.path, 'last')
  folder.remove()
  return explanationText(found, false)
}

const explainedIn = (folder: string, requestId: string): Explanation => {
  const reader = openJournal(folder)
  const [found] = explain(engineOptions(), reader, requestId)
  reader.close()
  if (found === undefined) throw new Error(`no request ${requestId}`)
  return found
}

const NUMBER = String.raw`(?!0(?:\.0+)? )[\d.]+`

describe('what the router measures of its endpoints', () => {
  it.each([
    ['vllm', 'sqlite', `${NUMBER} ms a prefill`, '0'],
    ['sglang', 'memory', 'no prefill time is known', NUMBER],
  ] as const)('%s: explain shows all of it above zero', async (engine, journal, prefillTime, allocating) => {
    const text = await explained(engine, journal)
    expect(text).toMatch(new RegExp(`note: prefill default/prefill-0: ${prefillTime}, ${NUMBER} waiting, ${allocating} to be allocated, ${NUMBER} requests/s leave its queue`))
    expect(text).toMatch(new RegExp(`note: decode default/decode-0: ${NUMBER} running, .* pending, ${NUMBER} tokens/s, ${NUMBER} requests/s drained, (?!100 )\\d+ % of its cache free, ${NUMBER} waiting, ${allocating} to be allocated`))
  })
})
