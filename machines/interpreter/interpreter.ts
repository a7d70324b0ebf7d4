/**
 * The one interface through which a machine is run. Two interpreters implement it: a table compiled
 * from the machine (`compile`), which the engine runs, and XState's own actors
 * (`createXStateInterpreter`), the oracle that the table is held to.
 */

/** What a machine owns of an actor: a plain, mutable record with room for its state. The rest of it is its owner's. */
export interface ActorRecord {
  /** Index into `Interpreter.states`. Written by the interpreter only. */
  state: number
}

/** What a machine raises by itself: its start, a due `after`, a compound state that reached its final state. */
export interface InternalEvent {
  readonly type: `xstate.${string}`
}

export type Action<A, E> = (actor: A, event: E | InternalEvent) => void
export type Guard<A, E> = (actor: A, event: E | InternalEvent) => boolean
/** Milliseconds: finite, not below 0. A function reads the record after the entry actions of the timer's state. */
export type Delay<A, E> = number | ((actor: A, event: E | InternalEvent) => number)

/**
 * What a machine's names mean, the same object for either interpreter.
 *
 * Actions run at once, in order, and may mutate the record: an `always` guard that follows sees it. They
 * may send to other actors, not to their own. Guards only look. Timers are told through `schedule` and
 * `cancel`: their order among themselves is fixed, their place between the actions of one `send` is not.
 * `cancel` is also called for a timer that is not pending, which means nothing.
 */
export interface Implementations<
  A extends ActorRecord,
  E extends { readonly type: string },
  ActionName extends string = string,
  GuardName extends string = string,
  DelayName extends string = string,
> {
  readonly actions: Readonly<Record<ActionName, Action<A, E>>>
  readonly guards: Readonly<Record<GuardName, Guard<A, E>>>
  /** Overrides the machine's own constants, name by name; a delay that is no constant there must be given. */
  readonly delays?: Readonly<Partial<Record<DelayName, Delay<A, E>>>>
  /** `timer` is an index into `Interpreter.timers`; a timer of an actor pends at most once. */
  schedule(actor: A, timer: number, delayMs: number): void
  cancel(actor: A, timer: number): void
}

/** One `after` of one state. */
export interface Timer {
  /** Unique within the machine and stable while source and delay keep their names: `scheduled.sentTimeout`. */
  readonly name: string
  /** Path of the state that owns it; empty for the machine itself. */
  readonly source: string
  /** Name of the delay, or its milliseconds in digits. */
  readonly delay: string
}

/** One step from a configuration to the next, several of which may follow on one event. */
export interface Transition {
  /** Paths, as in `Interpreter.states`. Equal when the step left the states alone. */
  readonly from: string
  readonly to: string
  /** The event that was being taken, also for an `always`. */
  readonly eventType: string
  /** What was taken, in order: several only in parallel regions. */
  readonly edges: readonly Edge[]
}

/** A transition as the machine states it: the edge with the same id in `toGraph`. */
export interface Edge {
  /** `<source path>:<event type, or empty for always>:<index among the source's transitions on it>`. */
  readonly id: string
}

/** Watches without taking part. Without one, nothing is paid for it. */
export interface Observer<A extends ActorRecord> {
  /** After the step's actions, before the record's `state` becomes `transition.to`. */
  transition?(actor: A, transition: Transition): void
  /** After each look at a named guard. */
  guard?(actor: A, name: string, passed: boolean): void
}

export interface Interpreter<A extends ActorRecord, E extends { readonly type: string }> {
  /** The machine's id. */
  readonly id: string
  /**
   * Every configuration, in document order, as the path of its innermost state ("scheduling.decode");
   * in parallel machines one path per region in document order, joined by "|".
   */
  readonly states: readonly string[]
  /** Every `after`, in document order. A timer's number is its index here: name, not number, belongs in a snapshot. */
  readonly timers: readonly Timer[]
  /** Puts the actor into the initial configuration and schedules its timers, if it has any. */
  start(actor: A): void
  /**
   * Takes the event and every `always` and completion that follows.
   * @returns whether any transition was taken
   * @throws SendWithinSend, MicrostepLimit, and what the actions throw
   */
  send(actor: A, event: E): boolean
  /** The same for a due timer, which is no longer pending then. A timer whose state is not active does nothing. */
  fire(actor: A, timer: number): boolean
  /**
   * Puts the actor into a saved configuration: no actions run, no timers are scheduled.
   * @throws UnknownConfiguration for a path that is not in `states`
   */
  restore(actor: A, state: string): void
  /** Whether the machine is over: nothing is pending and further events are ignored. */
  isFinal(actor: A): boolean
  /** Whether the current configuration has a transition on this type of event, whatever its guards say. */
  accepts(actor: A, eventType: string): boolean
  /** Forgets whatever the interpreter holds for the actor; the record may be reused after another `start`. */
  release(actor: A): void
}

/**
 * Microsteps that one event may cause. The longest honest run, one stage after another of a request
 * with as many profiles as a configuration may name, stays well below; only a cycle of `always` gets here.
 */
export const MICROSTEPS_MAX = 1_000
