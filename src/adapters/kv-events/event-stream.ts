import { BlockMap, joined } from './block-map.ts'
import type { BlockChange, BlockNaming, SkippedEvent, SkipReason } from './block-map.ts'
import { readEvents } from './engine-events.ts'
import type { EventMessage } from './message.ts'
import { MsgpackError } from './msgpack.ts'
import { topicOf } from './topic.ts'

/** What is not as it should be, for whoever counts. */
export type KvFault = 'frames' | 'malformed' | 'gap' | 'restart' | 'replay-failed' | 'unknown-endpoint' | SkipReason

export interface EventStreamOptions {
  readonly naming: BlockNaming
  /** The model that the endpoint serves; '' where the topic says it. */
  readonly model: string
  change(change: BlockChange): void
  fault(fault: KvFault, count: number): void
  /** Told of each event of which nothing was taken, besides its fault. */
  skipped?: ((event: SkippedEvent, reason: SkipReason) => void) | undefined
  /** Asks for the messages from a sequence on; undefined where the publisher keeps none. */
  replay?: ((from: bigint) => Promise<readonly EventMessage[] | undefined>) | undefined
}

/** Live messages that wait for a replay to end, at most: past it the replay cannot close the gap any more. */
const WAITING_MAX = 65_536
/** After a replay that failed none is asked for in this time. (llm-d: KV events) */
const COOL_DOWN_MS = 30_000

/**
 * One publisher's messages in order. What is missing is asked for; where it cannot be had, nothing is known of the cache
 * any more and it is cleared: a block less is a little work done twice, a block too many is a wrong answer.
 */
export class EventStream {
  private readonly options: EventStreamOptions
  private readonly blocks: BlockMap
  /** Sequence of the next message; undefined before the first. */
  private next: bigint | undefined
  private waiting: EventMessage[] | undefined
  private coolUntilMs = 0
  private epoch = 0

  constructor(options: EventStreamOptions) {
    this.options = options
    this.blocks = new BlockMap(options.naming, (reason, count, event) => {
      options.fault(reason, count)
      if (event !== undefined) options.skipped?.(event, reason)
    })
  }

  /** All that is known to be held, as changes that store it anew. */
  held(): readonly BlockChange[] {
    return this.blocks.held()
  }

  /** A connection is there, anew: the publisher may be another one, and tells from its beginning what it still has. */
  connected(): void {
    this.ask(0n)
  }

  /** The connection is gone, and so is what is known. */
  disconnected(): void {
    this.epoch += 1
    this.waiting = undefined
    this.next = undefined
    this.clear()
  }

  take(message: EventMessage): void {
    const { waiting } = this
    if (waiting !== undefined) {
      waiting.push(message)
      if (waiting.length > WAITING_MAX) waiting.shift()
      return
    }
    const { sequence } = message
    if (this.next !== undefined && sequence < this.next) {
      this.options.fault('restart', 1)
      this.clear()
      this.next = undefined
    }
    if (sequence !== (this.next ?? 0n)) {
      if (this.next !== undefined) this.options.fault('gap', 1)
      if (this.ask(this.next ?? 0n)) {
        this.take(message)
        return
      }
      this.clear()
    }
    this.apply(message)
  }

  /** Begins a replay; false where there is none to be had now. */
  private ask(from: bigint): boolean {
    const { replay, fault } = this.options
    if (replay === undefined || this.waiting !== undefined || performance.now() < this.coolUntilMs) return false
    const { epoch } = this
    this.waiting = []
    replay(from).catch(() => undefined).then((messages) => {
      if (epoch !== this.epoch) return
      if (messages === undefined) {
        this.coolUntilMs = performance.now() + COOL_DOWN_MS
        fault('replay-failed', 1)
      }
      this.catchUp(from, messages ?? [])
    }).catch(() => fault('malformed', 1))
    return true
  }

  /** What was replayed, then what came meanwhile; what is in both counts once. */
  private catchUp(from: bigint, replayed: readonly EventMessage[]): void {
    const waited = this.waiting ?? []
    this.waiting = undefined
    // Replayed from the beginning, everything is told again.
    if (from === 0n && replayed.length > 0) {
      this.clear()
      this.next = undefined
    }
    for (const message of [...replayed, ...waited]) {
      if (this.next !== undefined && message.sequence < this.next) continue
      if (this.next !== undefined && message.sequence > this.next) this.clear()
      this.apply(message)
    }
  }

  private apply({ topic, sequence, payload }: EventMessage): void {
    this.next = sequence + 1n
    const { fault, change } = this.options
    try {
      const { events, skipped } = readEvents(payload)
      if (skipped > 0) fault('cache-kind', skipped)
      const model = this.options.model === '' ? topicOf(topic).model : this.options.model
      for (const one of merged(events.flatMap((event) => this.blocks.take(event, model)))) change(one)
    } catch (error) {
      if (!(error instanceof MsgpackError)) throw error
      fault('malformed', 1)
      // What it said is unknown, and so it is what it changed.
      this.clear()
    }
  }

  private clear(): void {
    const wasKnown = this.blocks.size > 0
    this.blocks.forget()
    if (wasKnown) this.options.change({ kind: 'cleared' })
  }
}

/** Changes of one kind and tier that follow each other as one: engines tell of each block that goes. */
const merged = (changes: readonly BlockChange[]): readonly BlockChange[] => {
  const runs: BlockChange[][] = []
  for (const change of changes) {
    const run = runs.at(-1)
    const first = run?.[0]
    if (run !== undefined && first !== undefined && first.kind !== 'cleared' && change.kind === first.kind && change.tier === first.tier) run.push(change)
    else runs.push([change])
  }
  return runs.flatMap((run) => {
    const [first] = run
    if (first === undefined || first.kind === 'cleared' || run.length === 1) return run
    return [{ ...first, keys: joined(run.map((change) => (change.kind === 'cleared' ? NO_KEYS : change.keys))) }]
  })
}

const NO_KEYS = new Uint8Array(0)
