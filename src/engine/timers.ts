import type { Instant } from '../core/instant.ts'
import { byCodeUnit } from '../core/order.ts'

/** Whose timer it is: a request's by key, an endpoint's by life, the engine's own. */
export type TimerOwner = 'request' | 'endpoint' | 'engine'

/** A pending timer. */
export interface Timer {
  readonly deadline: Instant
  readonly owner: TimerOwner
  readonly key: number
  readonly name: string
  /** Place in the heap; -1 when it is not pending. */
  index: number
}

/** Pending timers in order of (deadline, owner, key, name); a cancelled one leaves at once, so none pile up. */
export class Timers {
  private readonly heap: Timer[] = []

  get size(): number {
    return this.heap.length
  }

  /** The earliest deadline; undefined when nothing is pending. */
  get earliest(): Instant | undefined {
    return this.heap[0]?.deadline
  }

  schedule(deadline: Instant, owner: TimerOwner, key: number, name: string): Timer {
    const timer: Timer = { deadline, owner, key, name, index: this.heap.length }
    this.heap.push(timer)
    this.up(timer)
    return timer
  }

  cancel(timer: Timer): void {
    if (timer.index >= 0) this.remove(timer)
  }

  /** Takes the first timer that is due; undefined when none is. */
  takeDue(now: Instant): Timer | undefined {
    const first = this.heap[0]
    if (first === undefined || first.deadline > now) return undefined
    this.remove(first)
    return first
  }

  /** All pending timers in order. */
  all(): Timer[] {
    return this.heap.slice().sort(compare)
  }

  private remove(timer: Timer): void {
    const last = this.heap.pop() as Timer
    if (last !== timer) {
      last.index = timer.index
      this.heap[last.index] = last
      this.up(last)
      this.down(last)
    }
    timer.index = -1
  }

  private up(timer: Timer): void {
    while (timer.index > 0) {
      const parent = this.heap[(timer.index - 1) >> 1] as Timer
      if (compare(parent, timer) <= 0) return
      this.swap(parent, timer)
    }
  }

  private down(timer: Timer): void {
    for (;;) {
      const left = this.heap[timer.index * 2 + 1]
      if (left === undefined) return
      const right = this.heap[timer.index * 2 + 2]
      const child = right !== undefined && compare(right, left) < 0 ? right : left
      if (compare(timer, child) <= 0) return
      this.swap(timer, child)
    }
  }

  private swap(a: Timer, b: Timer): void {
    const index = a.index
    a.index = b.index
    b.index = index
    this.heap[a.index] = a
    this.heap[b.index] = b
  }
}

const compare = (a: Timer, b: Timer): number =>
  a.deadline - b.deadline || byCodeUnit(a.owner, b.owner) || a.key - b.key || byCodeUnit(a.name, b.name)
