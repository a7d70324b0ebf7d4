import { interval } from 'rxjs'
import type { SchedulerLike, Subscription } from 'rxjs'
import type { KvChange, KvReport } from '../wire/nats.ts'
import type { Input } from '../wire/input.ts'

/** How often agents are asked that have not answered. */
const ASK_EVERY_MS = 2000
/** Keys in one input: a turn that takes them lasts about a millisecond. */
const INPUT_KEYS_MAX = 4096
const KEY_BYTES = 8

/** What is wrong with a report, for whoever counts. */
export type KvFollowFault = 'unknown-endpoint' | 'other-naming' | 'gap'

export interface KvFollowersOptions {
  /** How keys are made here: an agent that makes them otherwise tells of other blocks. */
  readonly naming: Pick<KvReport, 'hash' | 'blockTokens' | 'root'>
  readonly clock: SchedulerLike
  submit(input: Input): void
  /** Whether the engine holds anything of the endpoint's cache. */
  holds(endpoint: string): boolean
  /** The agent is to tell all that its engine holds, unless `sequence` was its last. */
  want(endpoint: string, incarnation: string, sequence: number): void
  fault(endpoint: string, fault: KvFollowFault): void
  /** Told of each change that is named otherwise. */
  skipped?(kind: 'stored' | 'removed'): void
}

/** An endpoint whose agent tells of its cache. */
export interface KvTeller {
  readonly id: string
  readonly incarnation: string
}

interface Followed {
  readonly incarnation: string
  /** Of the last change that the engine has; 0 while it has to be told all, and then the engine holds nothing. */
  sequence: number
  /** The change as of which all is being told, and the part that comes next; 0 while nothing is. */
  telling: number
  nextPart: number
  /** Whether the last change may have been missed. */
  isDoubtful: boolean
  askedMs: number
}

/**
 * The caches of endpoints as their agents tell of them, as inputs of the engine: changes in sequence, each once. Where one
 * is missing the endpoint's cache is cleared and all of it asked for: a block less is a little work done twice, a block too
 * many is a wrong answer.
 */
export class KvFollowers {
  private readonly options: KvFollowersOptions
  private readonly followed = new Map<string, Followed>()
  private readonly timer: Subscription
  /** Reports that were told before. They only rise. */
  repeated = 0

  constructor(options: KvFollowersOptions) {
    this.options = options
    this.timer = interval(ASK_EVERY_MS, options.clock).subscribe(() => this.look())
  }

  /** Endpoints of whose cache not all is known. */
  get waiting(): number {
    let waiting = 0
    for (const { sequence } of this.followed.values()) if (sequence === 0) waiting += 1
    return waiting
  }

  /** Follows just these. What an earlier run of the engine knew of a new one may have changed since. */
  follow(tellers: readonly KvTeller[]): void {
    const present = new Map(tellers.map(({ id, incarnation }) => [id, incarnation]))
    for (const [id, { incarnation }] of this.followed) if (present.get(id) !== incarnation) this.followed.delete(id)
    for (const [id, incarnation] of present) {
      if (this.followed.has(id)) continue
      const one: Followed = { incarnation, sequence: 0, telling: 0, nextPart: 0, isDoubtful: false, askedMs: -Infinity }
      this.followed.set(id, one)
      if (this.options.holds(id)) this.clear(id, one)
      this.ask(id, one)
    }
  }

  /** Messages may have been missed: everybody is asked whether there were any. */
  doubt(): void {
    for (const [id, one] of this.followed) {
      one.isDoubtful = true
      this.ask(id, one)
    }
  }

  reported(report: KvReport): void {
    const { endpoint: id, incarnation } = report
    const one = this.followed.get(id)
    if (one?.incarnation !== incarnation) return this.options.fault(id, 'unknown-endpoint')
    if (!this.isNamedAlike(report)) {
      for (const { kind } of report.changes) if (kind === 'stored' || kind === 'removed') this.options.skipped?.(kind)
      return this.options.fault(id, 'other-naming')
    }
    if (report.part > 0) this.toldAll(one, report)
    else this.changed(one, report)
  }

  close(): void {
    this.timer.unsubscribe()
  }

  private changed(one: Followed, { endpoint: id, sequence, changes }: KvReport): void {
    if (one.telling > 0) return this.lose(id, one)
    // All of it will be told, this change included.
    if (one.sequence === 0) return
    if (sequence <= one.sequence) {
      this.repeated += 1
      return
    }
    if (sequence > one.sequence + 1) return this.lose(id, one)
    one.sequence = sequence
    one.isDoubtful = false
    this.apply(id, one, changes)
  }

  private toldAll(one: Followed, { endpoint: id, sequence, part, parts, changes }: KvReport): void {
    if (one.telling === 0 && sequence <= one.sequence) {
      one.isDoubtful = false
      return
    }
    if (part === 1) {
      if (one.sequence > 0) this.options.fault(id, 'gap')
      if (one.sequence > 0 || one.telling > 0) this.clear(id, one)
      one.telling = sequence
    } else if (one.telling === sequence && part < one.nextPart) {
      this.repeated += 1
      return
    } else if (one.telling !== sequence || part !== one.nextPart) return one.telling === 0 ? undefined : this.lose(id, one)
    one.nextPart = part + 1
    this.apply(id, one, changes)
    if (part < parts) return
    one.sequence = sequence
    one.telling = 0
    one.isDoubtful = false
  }

  private lose(id: string, one: Followed): void {
    this.options.fault(id, 'gap')
    this.clear(id, one)
    this.ask(id, one)
  }

  private clear(id: string, one: Followed): void {
    one.sequence = 0
    one.telling = 0
    this.options.submit({ input: { kind: 'kvBlocksCleared', value: { endpoint: id, incarnation: one.incarnation } } })
  }

  private ask(id: string, one: Followed): void {
    one.askedMs = this.options.clock.now()
    this.options.want(id, one.incarnation, one.sequence)
  }

  private look(): void {
    const due = this.options.clock.now() - ASK_EVERY_MS
    for (const [id, one] of this.followed) if ((one.sequence === 0 || one.isDoubtful) && one.askedMs <= due) this.ask(id, one)
  }

  private isNamedAlike({ hash, blockTokens, root }: KvReport): boolean {
    const { naming } = this.options
    return hash === naming.hash && blockTokens === naming.blockTokens && root.length === naming.root.length && root.every((byte, at) => byte === naming.root[at])
  }

  private apply(endpoint: string, { incarnation }: Followed, changes: readonly KvChange[]): void {
    const { submit, naming: { blockTokens } } = this.options
    for (const { kind, keys, tier } of changes) {
      if (kind === 'cleared') submit({ input: { kind: 'kvBlocksCleared', value: { endpoint, incarnation } } })
      for (let at = 0; at < keys.length; at += KEY_BYTES * INPUT_KEYS_MAX) {
        const some = keys.subarray(at, at + KEY_BYTES * INPUT_KEYS_MAX)
        if (kind === 'stored') submit({ input: { kind: 'kvBlocksStored', value: { endpoint, incarnation, keys: some, tier, blockTokens } } })
        if (kind === 'removed') submit({ input: { kind: 'kvBlocksRemoved', value: { endpoint, incarnation, keys: some, tier } } })
      }
    }
  }
}
