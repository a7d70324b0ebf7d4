import { EndpointModel } from '../endpoint/model.ts'
import type { Sink, Work } from '../endpoint/model.ts'
import type { EndpointTiming } from '../endpoint/timing.ts'

/** What happened to a leg; `atMs` is virtual time. */
export interface Happening {
  readonly kind: 'admitted' | 'first-token' | 'progress' | 'finished'
  readonly endpoint: VirtualEndpoint
  readonly leg: number
  readonly atMs: number
  /** Prompt tokens found in the cache at admission, or tokens produced so far. */
  readonly tokens: number
}

interface Leg {
  readonly promptTokens: number
  readonly isPrefill: boolean
  readonly computes: boolean
  admittedMs: number
  produced: number
  toldMs: number
}

/** The window of the throughput gauge, in whole seconds, as the endpoints on sockets have it. */
const RATE_WINDOW_SECONDS = 5
/** A stream that goes on tells of itself this often at most, as front doors do. */
const PROGRESS_MS = 10_000

/**
 * A simulated endpoint in virtual time: the model of the endpoints on sockets, with the counts that a scrape of it
 * would show. What happens goes to one list, in order, so that nothing is called back in the midst of a model's step.
 */
export class VirtualEndpoint implements Sink {
  readonly id: string
  readonly role: 'prefill' | 'decode'
  readonly labels: Readonly<Record<string, string>>
  readonly timing: EndpointTiming
  /** Prompt tokens that were computed here, and those that its cache had. */
  computedTokens = 0
  cachedTokens = 0
  generationTokens = 0
  /** Legs that ended here, whole requests included. */
  finishedLegs = 0
  /** Prompts prefilled here, and how long that took, in seconds. */
  prefills = 0
  prefillSeconds = 0
  private readonly model: EndpointModel
  private readonly legs = new Map<number, Leg>()
  private readonly happened: Happening[]
  private readonly rateSlots = new Float64Array(RATE_WINDOW_SECONDS)
  private rateSecond = 0

  constructor(id: string, role: 'prefill' | 'decode', labels: Readonly<Record<string, string>>, timing: EndpointTiming, happened: Happening[]) {
    this.id = id
    this.role = role
    this.labels = labels
    this.timing = timing
    this.happened = happened
    this.model = new EndpointModel(timing, this)
  }

  get running(): number {
    return this.model.running
  }

  get waiting(): number {
    return this.model.waiting
  }

  /** Share of its KV blocks in use, 0 to 1. */
  get kvUsage(): number {
    return this.model.usedBlocks / this.timing.blockCount
  }

  /** Tokens generated a second over the last full seconds. */
  generationRate(nowMs: number): number {
    this.turnRateSlots(nowMs)
    return this.rateSlots.reduce((sum, tokens) => sum + tokens, 0) / RATE_WINDOW_SECONDS
  }

  exceeds(promptTokens: number, outputTokens: number): boolean {
    return this.model.exceeds(promptTokens, outputTokens)
  }

  /** Takes a leg in; of a prefill nobody is told tokens. */
  submit(work: Work, isPrefill: boolean, nowMs: number): void {
    const { id, promptTokens, remotePrefill } = work
    this.legs.set(id, { promptTokens, isPrefill, computes: !remotePrefill, admittedMs: nowMs, produced: 0, toldMs: nowMs })
    this.model.submit(work, nowMs)
  }

  abort(leg: number, nowMs: number): void {
    if (this.legs.delete(leg)) this.model.abort(leg, nowMs)
  }

  nextAt(): number {
    return this.model.nextAt()
  }

  advance(nowMs: number): void {
    this.model.advance(nowMs)
  }

  stored(): void {}

  evicted(): void {}

  admitted(id: number, cachedTokens: number, atMs: number): void {
    const leg = this.legs.get(id)
    if (leg === undefined) return
    leg.admittedMs = atMs
    if (leg.computes) {
      this.cachedTokens += cachedTokens
      this.computedTokens += leg.promptTokens - cachedTokens
    }
    this.tell('admitted', id, atMs, cachedTokens)
  }

  token(id: number, atMs: number): void {
    const leg = this.legs.get(id)
    if (leg === undefined) return
    leg.produced += 1
    if (leg.produced === 1 && leg.computes) {
      this.prefills += 1
      this.prefillSeconds += (atMs - leg.admittedMs) / 1000
    }
    this.generationTokens += 1
    this.turnRateSlots(atMs)
    const slot = this.rateSecond % RATE_WINDOW_SECONDS
    this.rateSlots[slot] = (this.rateSlots[slot] as number) + 1
    if (leg.isPrefill) return
    if (leg.produced === 1) this.tell('first-token', id, atMs, 1)
    else if (atMs - leg.toldMs >= PROGRESS_MS) this.tell('progress', id, atMs, leg.produced)
    else return
    leg.toldMs = atMs
  }

  finished(id: number, atMs: number): void {
    const leg = this.legs.get(id)
    if (leg === undefined) return
    this.legs.delete(id)
    this.finishedLegs += 1
    this.tell('finished', id, atMs, leg.produced)
  }

  private tell(kind: Happening['kind'], leg: number, atMs: number, tokens: number): void {
    this.happened.push({ kind, endpoint: this, leg, atMs, tokens })
  }

  private turnRateSlots(nowMs: number): void {
    const second = Math.floor(nowMs / 1000)
    for (let turned = 0; this.rateSecond < second && turned < RATE_WINDOW_SECONDS; turned++) {
      this.rateSecond = Math.max(this.rateSecond + 1, second - RATE_WINDOW_SECONDS + 1)
      this.rateSlots[this.rateSecond % RATE_WINDOW_SECONDS] = 0
    }
  }
}
