import { xxh64 } from '../../../src/core/hash/xxh64.ts'
import type { CreateFollower, Divergence, FollowedRun, Follower } from '../../../src/adapters/sqlite/follower-protocol.ts'
import { recordsOf } from '../../../src/journal/record.ts'
import type { StateAt } from '../../../src/journal/state-message.ts'

/** A follower whose whole state is how many records and arrivals it saw, and how large that state should be. */
class CountingFollower implements Follower {
  private position = 0
  private records = 0
  private arrivals = 0
  private readonly stateBytes: number
  private readonly failAt: number

  constructor(stateBytes: number, failAt: number) {
    this.stateBytes = stateBytes
    this.failAt = failAt
  }

  restore(state: StateAt): void {
    this.position = state.position
    if (state.state.length < 16) return
    const view = new DataView(state.state.buffer, state.state.byteOffset)
    this.records = view.getFloat64(0)
    this.arrivals = view.getFloat64(8)
  }

  apply(run: FollowedRun): readonly Divergence[] {
    const divergences: Divergence[] = []
    for (const record of recordsOf(run)) {
      if (record.position !== this.position + 1) throw new Error(`followed ${record.position} after ${this.position}`)
      if (record.position === this.failAt) throw new Error('made to fail')
      this.position = record.position
      this.records += 1
      const input = record.input?.input
      if (input?.kind === 'requestReceived') {
        this.arrivals += 1
        if (input.value.model === 'divergent') divergences.push({ position: record.position, message: 'another endpoint' })
      }
    }
    return divergences
  }

  state(): { bytes: Uint8Array; hash: bigint; position: number } {
    const bytes = new Uint8Array(this.stateBytes)
    const view = new DataView(bytes.buffer)
    view.setFloat64(0, this.records)
    view.setFloat64(8, this.arrivals)
    return { bytes, hash: xxh64(bytes), position: this.position }
  }
}

export const createFollower: CreateFollower = options => {
  const { stateBytes = 16, failAt = 0 } = (options ?? {}) as { readonly stateBytes?: number; readonly failAt?: number }
  return new CountingFollower(stateBytes, failAt)
}
