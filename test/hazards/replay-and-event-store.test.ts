import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/config/load.ts'
import { SqliteJournalReader } from '../../src/adapters/sqlite/journal-reader.ts'
import { SqliteJournalStore } from '../../src/adapters/sqlite/journal-store.ts'
import { EngineActor } from '../../src/actors/engine-actor.ts'
import type { CompletedConfiguration } from '../../src/core/configuration.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { readRecords } from '../../src/journal/index.ts'
import type { JournalReader } from '../../src/journal/index.ts'
import { KNOWN_TYPES, pluginTypes } from '../../src/plugins/index.ts'
import { encodeState, engineAt } from '../../src/replay/engine-at.ts'
import { engineOptions } from '../../src/replay/engine-options.ts'
import { Replayer } from '../../src/replay/replayer.ts'
import type { Decision } from '../../src/wire/decision.ts'
import { encodeRecord } from '../../src/wire/journal.ts'
import type { Record as JournalRecord } from '../../src/wire/journal.ts'
import { toBytes } from '../../src/wire/runtime.ts'
import { disaggregated, singleProfile } from '../story/configuration.ts'
import { ended, joined, prompt, received, sent, started, telemetry } from '../story/inputs.ts'
import { chat, fleetIn, run, serveIn, temporaryFolder } from '../story/server.ts'
import { World } from '../story/world.ts'
import { sampleRecords } from '../unit/journal/sample-records.ts'
import { JournalFiller } from '../unit/journal/sealed-journal.ts'
import hazards from './cases/replay-and-event-store.json' with { type: 'json' }

/** Runs `work` where every clock, timer and source of chance throws, whatever it is asked for. */
const withoutTimeAndChance = <T>(work: () => T): T => {
  const refuse = (): never => {
    throw new Error('time or chance was asked for')
  }
  const RefusedDate = class {
    static readonly now = refuse
    constructor() {
      refuse()
    }
  }
  const replaced: [object, string, unknown][] = [
    [globalThis, 'Date', RefusedDate], [Math, 'random', refuse], [performance, 'now', refuse], [crypto, 'getRandomValues', refuse], [crypto, 'randomUUID', refuse],
    ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map((name): [object, string, unknown] => [globalThis, name, refuse]),
  ]
  const before = replaced.map(([owner, name]) => ({ owner, name, own: Object.getOwnPropertyDescriptor(owner, name) }))
  for (const [owner, name, value] of replaced) Object.defineProperty(owner, name, { value, configurable: true, writable: true })
  try {
    return work()
  } finally {
    for (const { owner, name, own } of before) {
      if (own === undefined) Reflect.deleteProperty(owner, name)
      else Object.defineProperty(owner, name, own)
    }
  }
}

const replay = (records: readonly JournalRecord[], options = engineOptions([], { receiptBytes: 1 << 16 })): { readonly engine: Engine; readonly decisions: Decision[] } => {
  const replayer = new Replayer(options, { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n })
  for (const record of records) expect(replayer.apply(record)).toBeUndefined()
  return { engine: replayer.engine, decisions: records.flatMap(({ decisions }) => decisions) }
}

const stateOf = (engine: Engine): Uint8Array => encodeState(engine).state

/** 100 requests on endpoints that go silent, so that they get stale, with requests left behind to expire. */
const story = (configuration: CompletedConfiguration, lateUs = 0): World => {
  const world = new World(configuration)
  world.at += lateUs
  world.take(...['a', 'b', 'c', 'd'].map((name, i) => joined(name, i === 3 ? 'prefill' : 'decode')))
  for (let i = 0; i < 100; i += 1) {
    if (i % 7 === 0) world.step(telemetry([0, 1, 2, 3].map((slot) => ({ slot, waiting: (i * (slot + 3)) % 5, kv: ((i * (slot + 1)) % 10) / 10 }))), 50)
    const { key } = world.request(received(`r-${i}`, { shape: { tokenized: true, prompts: [prompt(64 * (1 + (i % 20)), [1, 2, 3, 4], 1000 * (i % 10))], problem: '' } }))
    world.take(sent(key), started(key))
    if (i % 3 !== 0) world.take(ended(key))
    if (i % 25 === 24) world.pass(400_000)
  }
  return world
}

const exploring = (): CompletedConfiguration => loadConfiguration({
  texts: [{ file: 'configuration', text: [
    'apiVersion: llm-d.ai/v1alpha1', 'kind: EndpointPickerConfig', 'plugins:',
    '- type: prefix-cache-affinity-filter', '  parameters: {affinityThreshold: 0.5, explorationProbability: 0.5}',
    '- type: random-picker', 'schedulingProfiles:', '- name: default', '  plugins:', '  - pluginRef: prefix-cache-affinity-filter', '  - pluginRef: random-picker',
  ].join('\n') }],
  flags: new Map(), pluginTypes, knownTypes: KNOWN_TYPES, allowExperimental: true,
}).completed

/** What each case demands, by its id. */
const checks: Readonly<Record<string, () => void | Promise<void>>> = {
  'BUG-252': () => {
    const world = story(disaggregated(128))
    const bytes = world.records.map((record) => toBytes(encodeRecord, record))
    // The process' own chance and clock are of no account: they are not there, and the journal names seed and times.
    for (let time = 0; time < 2; time += 1) {
      withoutTimeAndChance(() => {
        const again = replay(world.records)
        expect(Buffer.from(stateOf(again.engine)).equals(stateOf(world.engine))).toBe(true)
        const options = engineOptions([], { receiptBytes: 1 << 16 })
        const engine = engineAt(options, { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n })
        world.records.forEach(({ input, atUs }, i) => expect(Buffer.from(toBytes(encodeRecord, engine.step(input ?? { input: undefined }, atUs).record)).equals(bytes[i] as Uint8Array)).toBe(true))
      })
    }
    expect(() => withoutTimeAndChance(() => Date.now())).toThrow('time or chance')
    // An hour later it is all decided the same: ages count, not hours.
    const later = story(disaggregated(128), 3_600_000_000)
    expect(later.records.flatMap(({ decisions }) => decisions)).toEqual(world.records.flatMap(({ decisions }) => decisions))
  },
  'BUG-253': () => {
    const world = new World(exploring()).take(...['a', 'b', 'c', 'd'].map((name) => joined(name)))
    const same = { shape: { tokenized: true, prompts: [prompt(640, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])], problem: '' } }
    for (let i = 0; i < 100; i += 1) world.take(ended(world.request(received(`r-${i}`, same)).key))
    const decisions = world.records.flatMap(({ decisions: each }) => each)
    const [explored, kept] = [(d: Decision) => (d.profiles[0]?.draws[0] ?? 1) < 0.5, (d: Decision) => (d.profiles[0]?.survivors ?? 0) < 4]
    expect(decisions.slice(1).filter(explored).length).toBeGreaterThan(25)
    expect(decisions.slice(1).filter(kept).length).toBeGreaterThan(0)
    for (const decision of decisions) expect(decision.profiles[0]?.draws.length).toBeGreaterThan(0)
    const again = withoutTimeAndChance(() => replay(world.records))
    expect(again.decisions).toEqual(decisions)
    expect(again.decisions).toHaveLength(100)
  },
  'BUG-256': () => {
    const applied: string[] = []
    const world = new World(singleProfile()).take(joined('a'))
    const actor = new EngineActor({
      engine: world.engine,
      journal: { lastPosition: 0, acknowledgedPosition: 0, append: (record) => void (record.input?.input?.kind === 'requestReceived' && applied.push(record.input.input.value.requestId)), canAccept: () => true, lag: () => ({ records: 0, ageMs: 0 }) },
      clock: { now: () => world.at, wakeAt: () => undefined, stop: () => undefined },
      durability: 'async',
      fault: (error) => {
        throw error
      },
    })
    // The one who hands in 1 does so much that 2 to 5 come while it is at it, the last from a listener to the turns.
    actor.turns.subscribe(() => applied.length === 1 && actor.submit(received('2')))
    actor.submit(received('1'), () => {
      for (const id of ['3', '4', '5']) actor.submit(received(id))
      expect(applied).toEqual(['1'])
    })
    expect(applied).toEqual(['1', '2', '3', '4', '5'])
  },
  'BUG-257': () => {
    const folder = temporaryFolder()
    try {
      const path = join(folder.path, 'journal.sqlite')
      const { store } = new JournalFiller(SqliteJournalStore.own(path, 'async', 1)).append(sampleRecords(1, 3), 1)
      store.close()
      // The rows as a storage without order gives them: 2, 1, 3.
      const database = new DatabaseSync(path)
      const rows = database.prepare('SELECT * FROM batch ORDER BY first_position').all()
      database.exec('DELETE FROM batch')
      const columns = Object.keys(rows[0] ?? {})
      const insert = database.prepare(`INSERT INTO batch (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      for (const i of [1, 0, 2]) insert.run(...Object.values(rows[i] ?? {}))
      database.close()
      const reader = SqliteJournalReader.open(path)
      expect([...readRecords(reader, 1)].map(({ position }) => position)).toEqual([1, 2, 3])
      // A backend that did not order would be found out, not believed.
      const disorderly: JournalReader = Object.create(reader, { batches: { value: () => { const [a, b, c] = [...reader.batches(0)]; return [b, a, c] } } }) as JournalReader
      expect(() => [...readRecords(disorderly, 1)]).toThrow(expect.objectContaining({ code: expect.stringMatching(/^journal-/) as string }))
      reader.close()
    } finally {
      folder.remove()
    }
  },
  'BUG-259': async () => {
    const folder = temporaryFolder()
    const pool = await fleetIn(folder.path)
    try {
      const first = await serveIn(folder.path)
      expect(await (await chat(first.url, 'A prompt that is long enough to be prefilled elsewhere. '.repeat(60))).text).toContain('[DONE]')
      await first.close()
      const served = (): unknown => pool.state().endpoints.map(({ name, served: of }) => ({ name, of }))
      const before = structuredClone(served())
      expect(pool.state().endpoints.find(({ role }) => role === 'prefill')?.served).toMatchObject({ prefill: 1 })
      // Recovered in a start, and replayed by the command: nobody is asked again.
      const second = await serveIn(folder.path)
      expect((await run('replay', folder.path)).out).toContain('0 divergences')
      expect(served()).toEqual(before)
      await second.close()
      expect(served()).toEqual(before)
    } finally {
      await pool.close()
      folder.remove()
    }
  },
  'BUG-263': () => {
    const configuration = { ...singleProfile(), engine: { ...singleProfile().engine } }
    const world = new World(configuration, 'table', 2n ** 53n + 1n).take(joined('a'), joined('b'), joined('c'))
    const numbers = telemetry([{ slot: 0, kv: NaN }, { slot: 1, kv: Infinity }, { slot: 2, kv: -0 }])
    if (numbers.input?.kind === 'telemetryTick') {
      numbers.input.value.columns.push({ metric: 'odd', custom: true, slotDeltas: [0, 1, 1], whole: [], real: [-Infinity, 2 ** 53 + 2, -0] })
      numbers.input.value.models.push({ slot: 0, active: [{ model: 'llama', count: 3 }], waiting: [] })
    }
    world.take(numbers, received('live', { maxOutputTokens: undefined }))
    const saved = encodeState(world.engine)
    const restored = engineAt(engineOptions([], { receiptBytes: 1 << 16 }), saved)
    expect(encodeState(restored).stateHash).toBe(saved.stateHash)
    const endpoint = (of: Engine, name: string): object => ({ ...of.view.fleet.get(`default/${name}`)?.endpoint })
    for (const name of ['a', 'b', 'c']) expect(endpoint(restored, name)).toStrictEqual(endpoint(world.engine, name))
    expect(restored.view.started?.seed).toBe(2n ** 53n + 1n)
    expect(restored.view.fleet.get('default/a')?.endpoint.kvCacheUsage).toBeNaN()
    expect(Object.is(restored.view.fleet.get('default/c')?.endpoint.kvCacheUsage, world.engine.view.fleet.get('default/c')?.endpoint.kvCacheUsage)).toBe(true)
    const next = received('next')
    expect(restored.step(structuredClone(next), world.at + 1000).record).toEqual(world.engine.step(next, world.at + 1000).record)
  },
}

describe('hazards of replay and of the event store', () => {
  it.each(hazards.cases)('$id: $symptom', async ({ id }) => {
    const check = checks[id]
    expect(check, `no check of ${id}`).toBeDefined()
    await check?.()
  }, 60_000)

  it('has a hazard for each check', () => expect(Object.keys(checks).sort()).toEqual(hazards.cases.map(({ id }) => id).sort()))
})
