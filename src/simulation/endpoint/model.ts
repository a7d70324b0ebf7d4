import { BlockPool } from './block-pool.ts'
import type { BlockLease } from './block-pool.ts'
import { MediaCache } from './media-cache.ts'
import type { MediaPlace } from './prompt-bytes.ts'
import { blocksNeeded, decodeStepMs, prefillMs, transferMs } from './timing.ts'
import type { EndpointTiming } from './timing.ts'

/** What an endpoint must know of a request to serve it. */
export interface Work {
  readonly id: number
  /** Keys of the full blocks of the prompt; empty when it needs no KV (an encode leg). */
  readonly keys: Float64Array
  /** What the keys are of, for whoever tells of cached blocks. */
  readonly content?: PromptContent
  readonly promptTokens: number
  /** Tokens to produce; the first comes out of the prefill. 0: only the prefill counts (embeddings). */
  readonly outputTokens: number
  /** The prompt's KV was computed elsewhere and is fetched. */
  readonly remotePrefill: boolean
  /** Keys of the media items. */
  readonly media: readonly number[]
  /** The media items were encoded elsewhere and are fetched. */
  readonly remoteMedia: boolean
}

/** What the blocks of a prompt hold. */
export interface PromptContent {
  readonly tokenIds: Uint32Array
  readonly adapter: string | undefined
  readonly places: readonly MediaPlace[]
}

/** What the model tells; `atMs` is model time. */
export interface Sink {
  /** These blocks of the work's prompt have come into the cache. */
  stored(work: Work, blocks: readonly number[]): void
  evicted(key: number): void

  admitted(id: number, cachedTokens: number, atMs: number): void
  token(id: number, atMs: number): void
  finished(id: number, atMs: number): void
}

interface Sequence {
  readonly work: Work
  readonly arrival: number
  lease: BlockLease | undefined
  produced: number
  aborted: boolean
}

/** A bound for memory: media items that one endpoint remembers. */
const MEDIA_CACHE_MAX = 4096

/**
 * A simulated endpoint as a discrete-event model, without clock and sockets: work goes in with a time, tokens come
 * out at the times that `timing.ts` states. All times are model milliseconds and must not fall from call to call.
 */
export class EndpointModel {
  readonly #timing: EndpointTiming
  readonly #sink: Sink
  readonly #pool: BlockPool
  readonly #media = new MediaCache(MEDIA_CACHE_MAX)
  readonly #live = new Map<number, Sequence>()
  readonly #ownPrefill: Sequence[] = []
  readonly #remotePrefill: Sequence[] = []
  readonly #transfers = new Map<Sequence, number>()
  #prefilling: Sequence | undefined
  #prefillEndsAt = Infinity
  #decoding: Sequence[] = []
  #joining: Sequence[] = []
  #stepEndsAt = Infinity
  #running = 0
  #arrivals = 0
  #slowFactor = 1

  constructor(timing: EndpointTiming, sink: Sink) {
    this.#timing = timing
    this.#sink = sink
    this.#pool = new BlockPool(timing.blockCount, (key) => sink.evicted(key))
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#live.size - this.#running
  }

  get usedBlocks(): number {
    return this.#pool.usedBlocks
  }

  get cachedBlocks(): number {
    return this.#pool.cachedBlocks
  }

  /** Whether this work is in one of the running places (false: it waits, or is not here). */
  isRunning(id: number): boolean {
    const sequence = this.#live.get(id)
    return sequence !== undefined && sequence.lease !== undefined
  }

  /** All work that starts from now on takes this many times as long. */
  set slowFactor(factor: number) {
    this.#slowFactor = factor
  }

  /** True when the work can never be admitted because it needs more KV blocks than there are. */
  exceeds(promptTokens: number, outputTokens: number): boolean {
    return blocksNeeded(this.#timing, promptTokens, outputTokens) > this.#timing.blockCount
  }

  /** Takes work in, after what is due by now. */
  submit(work: Work, nowMs: number): void {
    this.advance(nowMs)
    const sequence: Sequence = { work, arrival: this.#arrivals++, lease: undefined, produced: 0, aborted: false }
    this.#live.set(work.id, sequence)
    if (work.remotePrefill) this.#remotePrefill.push(sequence)
    else this.#ownPrefill.push(sequence)
    this.#admit(nowMs)
  }

  /** Ends work early and frees its KV at once; false when it is not here. */
  abort(id: number, nowMs: number): boolean {
    this.advance(nowMs)
    const sequence = this.#live.get(id)
    if (sequence === undefined) return false
    this.#live.delete(id)
    sequence.aborted = true
    if (sequence.lease === undefined) {
      remove(sequence.work.remotePrefill ? this.#remotePrefill : this.#ownPrefill, sequence)
    } else {
      this.#leave(sequence)
      this.#transfers.delete(sequence)
      if (this.#prefilling === sequence) this.#endPrefill()
    }
    this.#admit(nowMs)
    return true
  }

  /** Time of the next event, Infinity when nothing is going on. */
  nextAt(): number {
    let next = Math.min(this.#prefillEndsAt, this.#stepEndsAt)
    for (const at of this.#transfers.values()) if (at < next) next = at
    return next
  }

  /** Lets everything happen that is due at or before `nowMs`, in order of time. */
  advance(nowMs: number): void {
    for (let at = this.nextAt(); at <= nowMs; at = this.nextAt()) {
      this.#arrive(at)
      if (this.#prefillEndsAt <= at) this.#prefilled(at)
      if (this.#stepEndsAt <= at) this.#stepped(at)
      this.#admit(at)
    }
  }

  #admit(at: number): void {
    for (;;) {
      const line = this.#nextLine()
      const sequence = line?.[0]
      if (line === undefined || sequence === undefined || this.#running >= this.#timing.maxRunning) return
      const cached = this.#cachedBlocks(sequence.work)
      const { promptTokens, outputTokens, keys } = sequence.work
      const total = promptTokens === 0 ? 0 : blocksNeeded(this.#timing, promptTokens, outputTokens)
      const lease = this.#pool.acquire(keys, cached, total)
      if (lease === undefined) return
      line.shift()
      sequence.lease = lease
      this.#running++
      this.#sink.admitted(sequence.work.id, cached * this.#timing.blockTokens, at)
      this.#start(sequence, cached, at)
    }
  }

  /** The line whose head came first, among those that could go on now. */
  #nextLine(): Sequence[] | undefined {
    const own = this.#prefilling === undefined ? this.#ownPrefill[0] : undefined
    const remote = this.#remotePrefill[0]
    if (own === undefined) return remote === undefined ? undefined : this.#remotePrefill
    if (remote === undefined) return this.#ownPrefill
    return own.arrival < remote.arrival ? this.#ownPrefill : this.#remotePrefill
  }

  /** At least one prompt token is always computed, as the first output token comes out of it. */
  #cachedBlocks(work: Work): number {
    if (work.promptTokens === 0) return 0
    return this.#pool.match(work.keys, Math.floor((work.promptTokens - 1) / this.#timing.blockTokens))
  }

  #start(sequence: Sequence, cachedBlocks: number, at: number): void {
    const { work } = sequence
    const uncached = work.promptTokens - cachedBlocks * this.#timing.blockTokens
    if (work.remotePrefill) {
      this.#transfers.set(sequence, at + transferMs(this.#timing, uncached) * this.#slowFactor)
      return
    }
    const missing = this.#media.take(work.media)
    const fetched = work.remoteMedia && missing > 0 ? this.#timing.transferMs : 0
    const takes = prefillMs(this.#timing, uncached, work.remoteMedia ? 0 : missing) + fetched
    this.#prefilling = sequence
    this.#prefillEndsAt = at + takes * this.#slowFactor
  }

  #arrive(at: number): void {
    if (this.#transfers.size === 0) return
    for (const [sequence, arrivesAt] of this.#transfers) {
      if (arrivesAt > at) continue
      this.#transfers.delete(sequence)
      this.#publish(sequence)
      this.#join(sequence, at)
    }
  }

  #prefilled(at: number): void {
    const sequence = this.#prefilling as Sequence
    this.#endPrefill()
    this.#publish(sequence)
    if (sequence.work.outputTokens > 0) this.#produce(sequence, at)
    if (sequence.produced >= sequence.work.outputTokens) this.#finish(sequence, at)
    else this.#join(sequence, at)
  }

  #publish(sequence: Sequence): void {
    const stored = this.#pool.publish(sequence.lease as BlockLease)
    if (stored.length > 0) this.#sink.stored(sequence.work, stored)
  }

  #endPrefill(): void {
    this.#prefilling = undefined
    this.#prefillEndsAt = Infinity
  }

  #join(sequence: Sequence, at: number): void {
    this.#joining.push(sequence)
    if (this.#stepEndsAt === Infinity) this.#beginStep(at)
  }

  #beginStep(at: number): void {
    if (this.#joining.length > 0) {
      this.#decoding = this.#decoding.concat(this.#joining)
      this.#joining = []
    }
    this.#decoding = this.#decoding.filter((sequence) => !sequence.aborted)
    const decoding = this.#decoding.length
    if (decoding === 0) {
      this.#stepEndsAt = Infinity
      return
    }
    const takes = decodeStepMs(this.#timing, decoding, this.#prefilling !== undefined)
    this.#stepEndsAt = at + takes * this.#slowFactor
  }

  #stepped(at: number): void {
    const going: Sequence[] = []
    for (const sequence of this.#decoding) {
      if (sequence.aborted) continue
      this.#produce(sequence, at)
      if (sequence.produced >= sequence.work.outputTokens) this.#finish(sequence, at)
      else going.push(sequence)
    }
    this.#decoding = going
    this.#beginStep(at)
  }

  #produce(sequence: Sequence, at: number): void {
    sequence.produced++
    this.#sink.token(sequence.work.id, at)
  }

  #finish(sequence: Sequence, at: number): void {
    this.#live.delete(sequence.work.id)
    this.#leave(sequence)
    this.#sink.finished(sequence.work.id, at)
  }

  #leave(sequence: Sequence): void {
    this.#pool.release(sequence.lease as BlockLease)
    this.#running--
  }
}

function remove(line: Sequence[], sequence: Sequence): void {
  const at = line.indexOf(sequence)
  if (at >= 0) line.splice(at, 1)
}
