import type { CompletedConfiguration } from '../core/configuration.ts'
import type { Decider, Plugin } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { SignalboxError } from '../core/errors.ts'
import type { Instant } from '../core/instant.ts'
import type { WantedKeys } from '../core/shape.ts'
import type { Receipt } from '../wire/decision.ts'
import type { EngineStarted, Input } from '../wire/input.ts'
import type { Record as JournalRecord } from '../wire/journal.ts'
import type { EngineState } from '../wire/state.ts'
import { assemble } from './assemble.ts'
import { checkInput } from './check-input.ts'
import { EngineContext } from './context.ts'
import type { EngineOptions } from './context.ts'
import type { Effect } from './effects.ts'
import { runEndpoints } from './endpoint-machine.ts'
import { Fleet } from './fleet.ts'
import { callHook, observe } from './hooks.ts'
import { tellAdded } from './membership.ts'
import type { Pipeline, SharedServices } from './pipeline.ts'
import { runRequests } from './request-machine.ts'
import { loadMemories, loadState, saveMemories, saveState } from './state.ts'
import { send, takeInput } from './take-input.ts'

/** What one turn came to: the record to journal, and what the shell must do. */
export interface Turn {
  readonly record: JournalRecord
  readonly effects: readonly Effect[]
}

/**
 * The engine: state as a fold of inputs. It takes one input at a time, has no clock, no chance and no effects of its
 * own, and does the same again from the same inputs.
 */
export class Engine {
  private readonly context: EngineContext
  private wakeAt: Instant | undefined = undefined

  constructor(options: EngineOptions) {
    this.context = new EngineContext(options)
    this.context.endpointMachine = runEndpoints(this.context)
    this.context.requestMachine = runRequests(this.context)
    this.context.fleet = new Fleet(this.context.endpointMachine)
  }

  /** An engine in a saved state. */
  static restore(options: EngineOptions, state: EngineState): Engine {
    const engine = new Engine(options)
    if (state.started === undefined) return engine
    engine.use(engine.prepare(state.started))
    loadState(engine.context, state)
    return engine
  }

  /**
   * Takes one input.
   * @param at microseconds since the Unix epoch; a time before the last turn's counts as the last turn's
   * @throws SignalboxError input-invalid, and then nothing was taken
   */
  step(input: Input, at: Instant): Turn {
    checkInput(input)
    const content = input.input as NonNullable<Input['input']>
    const { context } = this
    if (context.started === undefined && content.kind !== 'engineStarted') {
      throw new SignalboxError('input-invalid', `the first input must be engineStarted, got ${content.kind}`)
    }
    const prepared = content.kind === 'engineStarted' ? this.prepare(content.value) : undefined
    context.position += 1
    context.at = Math.max(at, context.at)
    context.decisions = []
    context.effects = []
    if (prepared !== undefined) this.start(prepared)
    else takeInput(context, content)
    context.current = undefined
    this.askToWake()
    return { record: { position: context.position, atUs: context.at, input, decisions: context.decisions }, effects: context.effects }
  }

  /** The fold so far, as a message of its own: later turns do not change it. */
  state(): EngineState {
    return saveState(this.context)
  }

  get position(): number {
    return this.context.position
  }

  get at(): Instant {
    return this.context.at
  }

  /** The block keys that front doors should compute for the next request. */
  wanted(): readonly WantedKeys[] {
    const candidates = this.context.fleet.candidates()
    const { producers, handler } = this.context.pipeline
    return [...producers, handler].flatMap((producer) => callHook(this.context, producer, 'Wants', () => producer.wants?.(candidates), undefined) ?? [])
  }

  /** Receipts of the decisions of one record, while they are in memory. */
  receipts(position: number): readonly Receipt[] {
    return this.context.receipts.at(position)
  }

  /** For views and gauges; not to be changed. */
  get view(): Pick<EngineContext, 'fleet' | 'requests' | 'ledger' | 'pipeline' | 'settings' | 'started' | 'timers' | 'requestMachine' | 'endpointMachine' | 'slabs' | 'receipts' | 'chance' | 'now'> {
    return this.context
  }

  /** A run begins: the plugins are made anew and keep what they remember; proxied requests died with the last run. */
  private start(prepared: Prepared): void {
    const { context } = this
    const memories = context.started === undefined ? [] : saveMemories(context)
    this.use(prepared)
    context.startedAtPosition = context.position
    for (const endpoint of context.fleet.present()) tellAdded(context, endpoint)
    loadMemories(context, memories)
    for (const request of [...context.requests.values()].sort((a, b) => a.key - b.key)) {
      if (request.arrival.proxied) send(context, request, { type: 'restart' })
    }
    this.wakeAt = undefined
  }

  private use({ started, configuration, pipeline }: Prepared): void {
    this.context.pipeline = pipeline
    this.context.settings = configuration.engine
    this.context.started = started
    this.context.chance.seed(started.seed)
  }

  /** Makes what a run needs, and changes nothing: what is wrong with it is known before it takes a position. */
  private prepare(started: EngineStarted): Prepared {
    const { context } = this
    const configuration = parse(started)
    const shared: SharedServices = {
      die: (plugin) => context.chance.die(plugin),
      now: context.now,
      endpoints: () => context.fleet.present(),
      observe: (observation) => observe(context, observation),
    }
    const extra = (plugin: (name: string) => Plugin | undefined): readonly Plugin[] =>
      context.options.extraPlugins?.map((make) => make(plugin, configuration.saturationDetector)) ?? []
    const pipeline = assemble(configuration, context.options.pluginTypes, shared, (decider, endpoint, runs) => this.note(decider, endpoint, runs), extra)
    return { started, configuration, pipeline }
  }

  private note(decider: Decider, endpoint: Endpoint | undefined, runs: boolean): void {
    const request = this.context.current
    const reason = request === undefined ? undefined : callHook(this.context, decider, 'Explain', () => decider.explain?.(request, endpoint), undefined)
    request?.scheduling?.deciders.push({ plugin: decider.typedName.name, runs, reason: reason ?? '' })
  }

  private askToWake(): void {
    const earliest = this.context.timers.earliest
    if (earliest === undefined || earliest === this.wakeAt) return
    this.wakeAt = earliest
    this.context.effects.push({ kind: 'wake', at: earliest })
  }
}

interface Prepared {
  readonly started: EngineStarted
  readonly configuration: CompletedConfiguration
  readonly pipeline: Pipeline
}

const parse = (started: EngineStarted): CompletedConfiguration => {
  try {
    return JSON.parse(started.configuration) as CompletedConfiguration
  } catch {
    throw new SignalboxError('input-invalid', 'engineStarted: the configuration is not JSON')
  }
}
