import { Histogram } from './histogram.ts'
import { EndpointModel } from './model.ts'
import type { Sink, Work } from './model.ts'
import type { WorkKind } from './role.ts'
import type { EndpointTiming } from './timing.ts'

/** Where the outcome of one request goes. */
export interface Answer {
  readonly kind: WorkKind
  readonly adapter: string | undefined
  admitted(cachedTokens: number): void
  token(): void
  finished(): void
  /**
   * Called after each burst of the calls above: the moment to write to the wire. False: nothing was written, as
   * little was and lately; then it is called again, with `now`, `HOLD_MS` later at the latest.
   */
  flush(now: boolean): boolean
}

interface Active {
  readonly answer: Answer
  readonly promptTokens: number
  readonly arrivedMs: number
  admittedMs: number
  lastTokenMs: number
}

const SECONDS = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160]
const RATE_WINDOW_SECONDS = 5

/**
 * Tokens of one stream that come within this time of the wall clock leave in one write, except the first and the
 * last: at high speeds the writes, here and at everyone who relays them, would cost more than all the rest.
 */
export const HOLD_MS = 4

/**
 * The model of an endpoint driven by the wall clock: model time is wall time x `speed`. Counts and histograms are of
 * the wall clock, as a scraper would see them.
 */
export class Service implements Sink {
  readonly timing: EndpointTiming
  readonly speed: number
  readonly served: Record<WorkKind, number> = { encode: 0, prefill: 0, decode: 0, plain: 0 }
  readonly firstToken = new Histogram(SECONDS)
  readonly tokenInterval = new Histogram(SECONDS)
  readonly requestTime = new Histogram(SECONDS)
  readonly queueTime = new Histogram(SECONDS)
  readonly prefillTime = new Histogram(SECONDS)
  aborted = 0
  executed = 0
  promptTokens = 0
  generationTokens = 0
  cacheQueries = 0
  cacheHits = 0
  /** Told of the cache, where somebody wants to know. */
  cacheWatch: Pick<Sink, 'stored' | 'evicted'> | undefined
  readonly #model: EndpointModel
  readonly #active = new Map<number, Active>()
  readonly #dirty = new Set<Answer>()
  readonly #rateSlots = new Float64Array(RATE_WINDOW_SECONDS)
  #rateSecond = 0
  #nextId = 1
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Infinity
  #holdTimer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(timing: EndpointTiming, speed: number) {
    this.timing = timing
    this.speed = speed
    this.#model = new EndpointModel(timing, this)
  }

  get model(): Pick<EndpointModel, 'running' | 'waiting' | 'usedBlocks' | 'cachedBlocks' | 'exceeds'> {
    return this.#model
  }

  set slowFactor(factor: number) {
    this.#model.slowFactor = factor
  }

  submit(work: Omit<Work, 'id'>, answer: Answer): number {
    const id = this.#nextId++
    const nowMs = this.#nowMs()
    this.#active.set(id, { answer, promptTokens: work.promptTokens, arrivedMs: nowMs, admittedMs: nowMs, lastTokenMs: 0 })
    this.#model.submit({ ...work, id }, nowMs)
    this.#settle()
    return id
  }

  /** Ends a request whose client is gone; nothing happens when it has ended already. */
  abort(id: number): void {
    if (!this.#active.delete(id)) return
    this.aborted++
    this.#model.abort(id, this.#nowMs())
    this.#settle()
  }

  /** Aborts everything; no further token comes out after this. */
  stop(): void {
    this.#stopped = true
    for (const id of [...this.#active.keys()]) this.abort(id)
    clearTimeout(this.#timer)
    clearTimeout(this.#holdTimer)
  }

  /** Names of adapters in use by running, and by waiting requests. */
  adapters(): { running: string[]; waiting: string[] } {
    const running = new Set<string>()
    const waiting = new Set<string>()
    for (const [id, { answer }] of this.#active) {
      if (answer.adapter !== undefined) (this.#model.isRunning(id) ? running : waiting).add(answer.adapter)
    }
    return { running: [...running], waiting: [...waiting] }
  }

  /** Generated tokens per second of the wall clock over the last full seconds. */
  generationRate(): number {
    this.#turnRateSlots()
    return this.#rateSlots.reduce((sum, tokens) => sum + tokens, 0) / RATE_WINDOW_SECONDS
  }

  stored(work: Work, blocks: readonly number[]): void {
    this.cacheWatch?.stored(work, blocks)
  }

  evicted(key: number): void {
    this.cacheWatch?.evicted(key)
  }

  admitted(id: number, cachedTokens: number, atMs: number): void {
    const active = this.#active.get(id)
    if (active === undefined) return
    active.admittedMs = atMs
    this.executed++
    this.cacheQueries += active.promptTokens
    this.cacheHits += cachedTokens
    this.queueTime.observe(this.#seconds(atMs - active.arrivedMs))
    active.answer.admitted(cachedTokens)
  }

  token(id: number, atMs: number): void {
    const active = this.#active.get(id)
    if (active === undefined) return
    if (active.lastTokenMs === 0) {
      this.firstToken.observe(this.#seconds(atMs - active.arrivedMs))
      this.prefillTime.observe(this.#seconds(atMs - active.admittedMs))
    } else {
      this.tokenInterval.observe(this.#seconds(atMs - active.lastTokenMs))
    }
    active.lastTokenMs = atMs
    this.generationTokens++
    this.#turnRateSlots()
    const slot = this.#rateSecond % RATE_WINDOW_SECONDS
    this.#rateSlots[slot] = (this.#rateSlots[slot] as number) + 1
    active.answer.token()
    this.#dirty.add(active.answer)
  }

  finished(id: number, atMs: number): void {
    const active = this.#active.get(id)
    if (active === undefined) return
    this.#active.delete(id)
    this.served[active.answer.kind]++
    this.promptTokens += active.promptTokens
    this.requestTime.observe(this.#seconds(atMs - active.arrivedMs))
    active.answer.finished()
    this.#dirty.add(active.answer)
  }

  #nowMs(): number {
    return performance.now() * this.speed
  }

  #settle(): void {
    this.#flush(false)
    const nextAt = this.#model.nextAt()
    if (this.#stopped || nextAt >= this.#timerAtMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = nextAt
    const delay = nextAt / this.speed - performance.now()
    this.#timer = setTimeout(this.#wake, Math.max(1, Math.ceil(delay)))
  }

  readonly #wake = (): void => {
    this.#timer = undefined
    this.#timerAtMs = Infinity
    this.#model.advance(this.#nowMs())
    this.#settle()
  }

  #flush(now: boolean): void {
    for (const answer of this.#dirty) if (answer.flush(now)) this.#dirty.delete(answer)
    if (this.#dirty.size === 0 || this.#stopped) return
    this.#holdTimer ??= setTimeout(this.#letGo, HOLD_MS)
  }

  readonly #letGo = (): void => {
    this.#holdTimer = undefined
    this.#flush(true)
  }

  #seconds(modelMs: number): number {
    return modelMs / this.speed / 1000
  }

  #turnRateSlots(): void {
    const second = Math.floor(performance.now() / 1000)
    for (let turned = 0; this.#rateSecond < second && turned < RATE_WINDOW_SECONDS; turned++) {
      this.#rateSecond = Math.max(this.#rateSecond + 1, second - RATE_WINDOW_SECONDS + 1)
      this.#rateSlots[this.#rateSecond % RATE_WINDOW_SECONDS] = 0
    }
  }
}
