/** Between two wake-ups at least, in milliseconds: endpoints are spread over an interval in steps of this length. */
const STEP_MS = 5

/**
 * Calls each member once an interval, the members spread evenly over it, by one timer for all. Each keeps its place, so
 * that its calls are an interval apart; a round that comes late is not made up for. Without members there is no timer.
 */
export class Rounds<M extends object> {
  private readonly call: (member: M, nowMs: number) => void
  private readonly steps: readonly Set<M>[]
  private readonly stepMs: number
  private readonly places = new Map<M, Set<M>>()
  private timer: NodeJS.Timeout | undefined
  private step = 0
  private dueMs = 0

  constructor(intervalMs: number, call: (member: M, nowMs: number) => void) {
    this.call = call
    const steps = Math.max(1, Math.floor(intervalMs / STEP_MS))
    this.steps = Array.from({ length: steps }, () => new Set<M>())
    this.stepMs = intervalMs / steps
  }

  get size(): number {
    return this.places.size
  }

  add(member: M): void {
    const place = this.steps.reduce((least, step) => (step.size < least.size ? step : least))
    place.add(member)
    this.places.set(member, place)
    if (this.timer !== undefined) return
    this.dueMs = performance.now()
    this.arm()
  }

  delete(member: M): void {
    this.places.get(member)?.delete(member)
    this.places.delete(member)
    if (this.places.size === 0) this.stop()
  }

  clear(): void {
    for (const step of this.steps) step.clear()
    this.places.clear()
    this.stop()
  }

  private stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }

  private arm(): void {
    this.timer = setTimeout(() => this.wake(), Math.max(0, this.dueMs - performance.now()))
  }

  private wake(): void {
    const nowMs = performance.now()
    // Late by a whole interval or more, each member is still called only once.
    const due = Math.min(this.steps.length, 1 + Math.floor((nowMs - this.dueMs) / this.stepMs))
    for (let index = 0; index < due; index += 1) {
      for (const member of this.steps[this.step] as Set<M>) this.call(member, nowMs)
      this.step = (this.step + 1) % this.steps.length
    }
    this.dueMs = Math.max(this.dueMs + due * this.stepMs, nowMs - this.stepMs)
    if (this.places.size > 0) this.arm()
  }
}
