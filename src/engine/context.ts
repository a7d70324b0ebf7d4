import type { Interpreter, Observer } from '../../machines/interpreter/interpreter.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../core/configuration.ts'
import type { EngineSettings } from '../core/configuration.ts'
import type { Observation, Plugin } from '../core/contract.ts'
import type { Instant } from '../core/instant.ts'
import { Chance } from '../scheduling/chance.ts'
import { Digest } from '../scheduling/digest.ts'
import { ReceiptBook } from '../scheduling/receipt-book.ts'
import type { RunContext } from '../scheduling/run-profile.ts'
import { SlabRing } from '../scheduling/slab.ts'
import type { Decision } from '../wire/decision.ts'
import type { EngineStarted } from '../wire/input.ts'
import type { PluginTypes } from './assemble.ts'
import type { Effect } from './effects.ts'
import { EngineLoad } from './engine-load.ts'
import type { EndpointActor, EndpointEvent } from './endpoint-actor.ts'
import type { Fleet } from './fleet.ts'
import type { LiveRequest } from './live-request.ts'
import type { Pipeline } from './pipeline.ts'
import type { RequestEvent } from './request-event.ts'
import { Timers } from './timers.ts'
import type { Timer } from './timers.ts'

/** How an engine is made; none of it is state. */
export interface EngineOptions {
  readonly pluginTypes: PluginTypes
  /** What runs the machines: compiled tables, or XState's own actors. The decisions are the same. */
  readonly interpreter: 'table' | 'xstate'
  /** Bytes of receipts kept in memory. */
  readonly receiptBytes?: number
  /** Plugins that no configuration names, such as the admission controller. */
  readonly extraPlugins?: readonly ExtraPlugin[]
  readonly observe?: (observation: Observation) => void
  /** Told of every step of the machines and every look at a guard; without it nothing is paid. */
  readonly watch?: MachineWatch
}

/** Who looks at the machines as they run, without taking part. */
export interface MachineWatch {
  readonly request?: Observer<LiveRequest>
  readonly endpoint?: Observer<EndpointActor>
}

/** Makes a plugin from the ones that are configured. */
export type ExtraPlugin = (plugin: (name: string) => Plugin | undefined, detector: string) => Plugin

/** Room for the numbers of receipts: 16 MB stay in a processor's cache, where writing them costs little; older receipts are had by replay. */
const RECEIPT_BYTES = 16 * 1024 * 1024

/** The engine's state and what its parts share within a turn. */
export class EngineContext implements RunContext {
  readonly options: EngineOptions
  readonly requests = new Map<number, LiveRequest>()
  readonly timers = new Timers()
  /** Requests by endpoint life, for the machines' load and the gauges; tokens are the plugins' affair. */
  readonly ledger = new EngineLoad(this.requests)
  readonly chance = new Chance()
  readonly slabs: SlabRing
  readonly receipts: ReceiptBook
  readonly digest = new Digest()
  settings: EngineSettings = DEFAULT_ENGINE_SETTINGS
  started: EngineStarted | undefined = undefined
  startedAtPosition = 0
  pipeline!: Pipeline
  fleet!: Fleet
  requestMachine!: Interpreter<LiveRequest, RequestEvent>
  endpointMachine!: Interpreter<EndpointActor, EndpointEvent>
  /** Position and time of the turn in hand, or of the last one. */
  position = 0
  at: Instant = 0
  decisions: Decision[] = []
  effects: Effect[] = []
  /** Looks for endpoints gone silent, while there are endpoints. */
  sweep: Timer | undefined = undefined
  /** The request being scheduled, for what deciders note. */
  current: LiveRequest | undefined = undefined

  constructor(options: EngineOptions) {
    this.options = options
    this.slabs = new SlabRing(options.receiptBytes ?? RECEIPT_BYTES)
    this.receipts = new ReceiptBook(options.receiptBytes ?? RECEIPT_BYTES)
  }

  readonly now = (): Instant => this.at
}
