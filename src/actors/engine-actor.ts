import { Subject } from 'rxjs'
import type { Observable } from 'rxjs'
import { SignalboxError } from '../core/errors.ts'
import type { Effect } from '../engine/effects.ts'
import type { Engine, Turn } from '../engine/engine.ts'
import type { JournalLink } from '../journal/port.ts'
import type { Input } from '../wire/input.ts'
import type { Clock } from './clock.ts'

/** A turn with the time it took. */
export interface TimedTurn {
  readonly turn: Turn
  /** Microseconds of the engine's thread. */
  readonly took: number
}

export interface EngineActorOptions {
  readonly engine: Engine
  readonly journal: JournalLink
  readonly clock: Clock
  /** `async` performs effects at once, `commit` when the journal has acknowledged their record. */
  readonly durability: 'async' | 'commit'
  /** Told of faults: of code that listens, after which the engine goes on, and of the engine itself, after which it takes nothing more. */
  fault(error: unknown): void
}

interface Waiting {
  readonly input: Input
  readonly taken: ((turn: Turn) => void) | undefined
  readonly refused: ((error: SignalboxError) => void) | undefined
}

/**
 * The engine as an actor: inputs wait in one ordered inbox, are taken one at a time, journaled, and their effects
 * streamed out. While the journal has no room, inputs wait; they are never dropped.
 */
export class EngineActor {
  readonly engine: Engine
  private readonly options: EngineActorOptions
  private readonly inbox: Waiting[] = []
  private readonly held: { readonly position: number; readonly effects: readonly Effect[] }[] = []
  private readonly turnsOut = new Subject<TimedTurn>()
  private readonly effectsOut = new Subject<Effect>()
  private draining = false
  private closed = false
  private broken: unknown = undefined

  constructor(options: EngineActorOptions) {
    this.options = options
    this.engine = options.engine
  }

  /** Every turn, as it is taken. */
  get turns(): Observable<TimedTurn> {
    return this.turnsOut.asObservable()
  }

  /** Every effect but wakes, in order, when the durability allows it. */
  get effects(): Observable<Effect> {
    return this.effectsOut.asObservable()
  }

  /** Inputs that wait for room in the journal. */
  get depth(): number {
    return this.inbox.length
  }

  /** What went wrong in the engine itself; undefined while all is well. */
  get failure(): unknown {
    return this.broken
  }

  /**
   * Puts an input into the inbox. `taken` is called with its turn, before its effects; `refused` when the engine could
   * not take it, or takes nothing more.
   */
  submit(input: Input, taken?: (turn: Turn) => void, refused?: (error: SignalboxError) => void): void {
    if (this.broken !== undefined) {
      refused?.(stopped(this.broken))
      return
    }
    this.inbox.push({ input, taken, refused })
    this.drain()
  }

  /** Puts an input into the inbox; throws where the engine, having come to it at once, could not take it. */
  submitOrThrow(input: Input): void {
    let problem: SignalboxError | undefined
    this.submit(input, undefined, (error) => {
      problem = error
    })
    if (problem !== undefined) throw problem
  }

  /** To be called when the journal has acknowledged records up to a position. */
  acknowledged(position: number): void {
    while (this.held.length > 0 && (this.held[0]?.position ?? Infinity) <= position) this.perform(this.held.shift()?.effects ?? [])
  }

  /** To be called when the journal has room again. */
  drain(): void {
    if (this.draining) return
    this.draining = true
    try {
      while (!this.closed && this.inbox.length > 0 && this.options.journal.canAccept()) this.take(this.inbox.shift() as Waiting)
    } finally {
      this.draining = false
    }
  }

  /** Takes nothing more. */
  close(): void {
    this.closed = true
    this.options.clock.stop()
    this.turnsOut.complete()
    this.effectsOut.complete()
  }

  private take({ input, taken, refused }: Waiting): void {
    const { engine, clock, journal } = this.options
    const at = clock.now()
    const { position } = engine
    let turn: Turn
    try {
      turn = engine.step(input, at)
      journal.append(turn.record)
    } catch (error) {
      // What the engine refuses took no position. After anything else its state is not the journal's any more.
      if (error instanceof SignalboxError && engine.position === position) this.guard(() => refused?.(error))
      else this.breakDown(error, refused)
      return
    }
    this.turnsOut.next({ turn, took: clock.now() - at })
    this.guard(() => taken?.(turn))
    if (this.options.durability === 'async') this.perform(turn.effects)
    else this.held.push({ position: turn.record.position, effects: turn.effects })
  }

  /** Calls back the one who handed an input in: what it throws is its own fault, and must not take the turn's effects with it. */
  private guard(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.options.fault(error)
    }
  }

  /** A restart recovers from the journal; going on would write a journal that nobody can replay. */
  private breakDown(error: unknown, refused: Waiting['refused']): void {
    this.broken = error
    this.close()
    for (const each of [refused, ...this.inbox.splice(0).map((waiting) => waiting.refused)]) this.guard(() => each?.(stopped(error)))
    this.options.fault(error)
  }

  private perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'wake') this.options.clock.wakeAt(effect.at, () => this.submit({ input: { kind: 'timerFired', value: { deadlineUs: effect.at } } }))
      else this.effectsOut.next(effect)
    }
  }
}

const stopped = (error: unknown): SignalboxError => new SignalboxError('engine-stopped', `the engine stopped: ${error instanceof Error ? error.message : String(error)}`)
