import type { CompletedConfiguration } from '../../src/core/configuration.ts'
import type { Observation } from '../../src/core/contract.ts'
import type { PluginTypes } from '../../src/engine/assemble.ts'
import type { Effect } from '../../src/engine/effects.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Turn } from '../../src/engine/engine.ts'
import { engineOptions } from '../../src/replay/engine-options.ts'
import type { Decision } from '../../src/wire/decision.ts'
import type { Input } from '../../src/wire/input.ts'
import type { Record as JournalRecord } from '../../src/wire/journal.ts'
import { engineStarted } from './inputs.ts'

/** The built-in plugin types, by name. */
export const types: PluginTypes = engineOptions().pluginTypes

export const EPOCH = 1_700_000_000_000_000

/** An engine with a clock that the test moves, and all that it did. */
export class World {
  readonly engine: Engine
  readonly records: JournalRecord[] = []
  readonly effects: Effect[] = []
  at: number = EPOCH

  constructor(configuration: CompletedConfiguration, interpreter: 'table' | 'xstate' = 'table', seed = 7n, observe: (observation: Observation) => void = () => undefined) {
    this.engine = new Engine(engineOptions([], { interpreter, observe }))
    this.take(engineStarted(configuration, seed))
  }

  /** Takes inputs one after another, a millisecond apart. */
  take(...inputs: readonly Input[]): this {
    for (const input of inputs) this.step(input)
    return this
  }

  step(input: Input, afterMs = 1): Turn {
    this.at += afterMs * 1000
    const turn = this.engine.step(input, this.at)
    this.records.push(turn.record)
    this.effects.push(...turn.effects)
    return turn
  }

  /** Takes a request and gives its key and its decision. */
  request(input: Input): { readonly key: number; readonly decision: Decision } {
    const { record } = this.step(input)
    const [decision] = record.decisions
    if (decision === undefined) throw new Error('no decision')
    return { key: record.position, decision }
  }

  /** Lets time pass, firing each timer when it is due. */
  pass(ms: number): this {
    const end = this.at + ms * 1000
    for (let due = this.engine.view.timers.earliest; due !== undefined && due <= end; due = this.engine.view.timers.earliest) {
      this.at = due
      const turn = this.engine.step({ input: { kind: 'timerFired', value: { deadlineUs: due } } }, due)
      this.records.push(turn.record)
      this.effects.push(...turn.effects)
    }
    this.at = end
    return this
  }

  /** Requests in flight by endpoint name, those with any. */
  inFlight(): Record<string, number> {
    const { fleet, ledger } = this.engine.view
    const loads = fleet.present().map((endpoint) => [endpoint.id.replace('default/', ''), ledger.load(endpoint).requests] as const)
    return Object.fromEntries(loads.filter(([, requests]) => requests !== 0))
  }

  /** Where the machine of an endpoint is. */
  machineOf(name: string): string {
    const actor = this.engine.view.fleet.get(`default/${name}`)
    return actor === undefined ? 'gone' : (this.engine.view.endpointMachine.states[actor.state] ?? '')
  }
}

/** The endpoint that a decision routed to, by name. */
export const target = (decision: Decision): string => {
  const profile = decision.profiles.find(({ profile: name }) => name === decision.primaryProfile)
  return profile?.picks[0]?.endpoint.replace('default/', '') ?? ''
}

/** The stages of a decision with their endpoints' names. */
export const stages = (decision: Decision): Record<string, string[]> =>
  Object.fromEntries(decision.profiles.map(({ stage, picks }) => [stage, picks.map(({ endpoint }) => endpoint.replace('default/', ''))]))
