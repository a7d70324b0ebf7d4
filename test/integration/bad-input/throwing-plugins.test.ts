import { describe, expect, it } from 'vitest'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import type { Plugin, PluginType } from '../../../src/core/contract.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { encodeState, engineAt } from '../../../src/replay/engine-at.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import { Replayer } from '../../../src/replay/replayer.ts'
import type { Input } from '../../../src/wire/input.ts'
import type { Record as JournalRecord } from '../../../src/wire/journal.ts'
import { disaggregated, singleProfile } from '../../story/configuration.ts'
import { ended, engineStarted, failed, joined, left, prompt, received, sent, started, telemetry } from '../../story/inputs.ts'
import { EPOCH } from '../../story/world.ts'

type Methods = Readonly<Record<string, (...args: never[]) => unknown>>

const fails = (): never => {
  throw new Error('the plugin is broken')
}

/** A type whose plugins behave, but for the one method that throws. */
const faulty = (methods: Methods, hook: string, more: object = {}): PluginType => ({
  type: 'faulty',
  kinds: [],
  stability: 'alpha',
  create: ({ name }) => ({ typedName: { type: 'faulty', name }, ...more, ...methods, [hook]: fails }) as Plugin,
})

const handler: Methods = {
  pick: (_request: never, _profiles: never, results: ReadonlyMap<string, unknown>) => (results.size === 0 ? ['default'] : []),
  processResults: (_request: never, results: ReadonlyMap<string, unknown>) => ({ primary: 'default', results }),
  stageOf: () => 'decode',
  decisionType: () => 'decode-only',
}
const decider: Methods = { runs: () => true, explain: () => 'why not' }

interface Case {
  readonly hook: string
  readonly methods?: Methods
  readonly more?: object
  readonly outcome: 'routed' | number
  readonly place?: 'filter' | 'scorer' | 'picker' | 'producer' | 'handler' | 'decider'
}

// What llm-d's request director does where a plugin of that kind gives an error; the rest must not matter to the request.
const CASES: readonly Case[] = [
  { hook: 'admission', outcome: 'routed' },
  { hook: 'screen', outcome: 'routed' },
  { hook: 'produce', place: 'producer', outcome: 'routed' },
  { hook: 'awaits', methods: { produce: () => undefined }, place: 'producer', outcome: 'routed' },
  { hook: 'wants', methods: { produce: () => undefined }, place: 'producer', outcome: 'routed' },
  { hook: 'admit', outcome: 500 },
  { hook: 'filter', place: 'filter', outcome: 500 },
  { hook: 'score', place: 'scorer', more: { category: 'balance' }, outcome: 500 },
  { hook: 'pick', place: 'picker', outcome: 500 },
  { hook: 'pick', methods: handler, place: 'handler', outcome: 429 },
  { hook: 'processResults', methods: handler, place: 'handler', outcome: 429 },
  { hook: 'stageOf', methods: handler, place: 'handler', outcome: 'routed' },
  { hook: 'decisionType', methods: handler, place: 'handler', outcome: 'routed' },
  { hook: 'runs', methods: decider, place: 'decider', outcome: 429 },
  { hook: 'explain', methods: decider, place: 'decider', outcome: 'routed' },
  { hook: 'preRequest', outcome: 500 },
  { hook: 'responseHeaders', outcome: 'routed' },
  { hook: 'responseBody', outcome: 'routed' },
  { hook: 'report', outcome: 'routed' },
  { hook: 'endpointAdded', methods: { endpointRemoved: () => undefined }, outcome: 'routed' },
  { hook: 'endpointRemoved', methods: { endpointAdded: () => undefined }, outcome: 'routed' },
  { hook: 'requestSent', methods: { stageEnded: () => undefined }, outcome: 'routed' },
  { hook: 'metricsHeard', outcome: 'routed' },
  { hook: 'peerLoad', methods: { peerGone: () => undefined }, outcome: 'routed' },
  { hook: 'peerGone', methods: { peerLoad: () => undefined }, outcome: 'routed' },
  { hook: 'save', methods: { load: () => undefined }, outcome: 'routed' },
  { hook: 'load', methods: { save: () => new Uint8Array([1]) }, outcome: 'routed' },
]

const configured = (place: Case['place']): CompletedConfiguration => {
  const plain = place === 'decider' ? disaggregated(16) : singleProfile()
  const plugins = plain.plugins.map((plugin) => (place === 'decider' && plugin.type === 'disagg-profile-handler' ? { ...plugin, parameters: { deciders: { prefill: 'faulty' } } } : plugin))
  return {
    ...plain,
    plugins: [{ name: 'faulty', type: 'faulty' }, ...plugins],
    producers: place === 'producer' ? [...plain.producers, 'faulty'] : plain.producers,
    profileHandler: place === 'handler' ? 'faulty' : plain.profileHandler,
    profiles: plain.profiles.map((profile) => ({
      ...profile,
      filters: place === 'filter' ? ['faulty'] : profile.filters,
      scorers: place === 'scorer' ? [{ plugin: 'faulty', weight: 1 }] : profile.scorers,
      picker: place === 'picker' ? 'faulty' : profile.picker,
    })),
  }
}

const peerLoad: Input = { input: { kind: 'peerLoadReported', value: { replica: 'other', runId: 'run', sequence: 1, opens: true, assigned: [], released: [] } } }
const peerGone: Input = { input: { kind: 'replicaLeaseEnded', value: { replica: 'other', runId: 'run' } } }

describe('a plugin that throws', () => {
  it.each(CASES)('in $hook ($place): the request gets $outcome, and nothing else happens to the engine', ({ hook, methods = {}, more = {}, place, outcome }) => {
    // given an engine with it, and one who counts the plugin's errors
    const errors: string[] = []
    const options = engineOptions([faulty(methods, hook, more)], { receiptBytes: 1 << 16, observe: ({ name, labels }) => { if (name === 'plugin_errors_total') errors.push(labels['plugin_name'] ?? '') } })
    const engine = new Engine(options)
    const records: JournalRecord[] = []
    let at = EPOCH
    const take = (...inputs: readonly Input[]): JournalRecord => {
      for (const input of inputs) records.push(engine.step(input, (at += 1000)).record)
      return records.at(-1) as JournalRecord
    }
    const begin = engineStarted(configured(place))
    take(begin, joined('a', 'decode'), joined('b', 'decode'), joined('p', 'prefill'), telemetry([{ slot: 0 }, { slot: 1 }]), peerLoad, peerGone)
    engine.wanted()
    // when a request comes, and fails once
    const first = take(received('first', { shape: { tokenized: true, prompts: [prompt(4096)], problem: '' } }))
    // then
    const [decision] = first.decisions
    expect(decision?.outcome === 'routed' ? 'routed' : decision?.rejection?.status).toBe(outcome)
    take(sent(first.position), failed(first.position, 1, 'a'), started(first.position, 2), ended(first.position, 2))
    // and when the engine is saved and begins another run
    const saved = encodeState(engine)
    take(received('second'), left('a'), begin)
    expect(engine.view.requests.size).toBe(0)
    expect(engine.view.ledger.requests()).toEqual([])
    expect(engineAt(options, saved).position).toBe(saved.position)
    // and it all comes out the same again
    const replayer = new Replayer(options, { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n })
    for (const record of records) expect(replayer.apply(record)).toBeUndefined()
    if (outcome === 'routed' && hook !== 'screen' && hook !== 'produce') expect(errors).toContain('faulty')
  })

  it('does not decide otherwise because its observation could not be taken', () => {
    const observer: PluginType = {
      type: 'faulty', kinds: [], stability: 'alpha',
      create: ({ name }) => {
        let say: () => void = () => undefined
        return { typedName: { type: 'faulty', name }, setup: (services) => { say = () => services.observe({ kind: 'counter', name: 'odd', labels: {}, value: 1 }) }, admit: () => say() } as Plugin
      },
    }
    const engine = new Engine(engineOptions([observer], { observe: fails }))
    for (const [i, input] of [engineStarted(configured(undefined)), joined('a')].entries()) engine.step(input, EPOCH + i)
    expect(engine.step(received('r'), EPOCH + 9).record.decisions[0]?.outcome).toBe('routed')
  })
})
