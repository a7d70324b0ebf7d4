import type { CreateFollower, Follower as FollowerPort } from '../adapters/sqlite/follower-protocol.ts'
import { importPluginTypes } from '../config/read.ts'
import { recordsOf } from '../journal/record.ts'
import type { StateAt } from '../journal/state-message.ts'
import { engineOptions, Follower } from '../replay/index.ts'

/** What the follower's thread is told. */
export interface FollowerOptions {
  /** Modules that export the user's plugin types. */
  readonly plugins: readonly string[]
}

/** Receipts are the live engine's affair; the follower keeps next to none. */
const RECEIPT_BYTES = 1024 * 1024

/** Makes the follower of a journal, in its own thread. */
export const createFollower: CreateFollower = async (given) => {
  const { plugins } = given as FollowerOptions
  const follower = new Follower(engineOptions(await importPluginTypes(plugins), { receiptBytes: RECEIPT_BYTES }))
  const port: FollowerPort = {
    restore: (state: StateAt) => follower.begin(state),
    apply: (run) => {
      const divergences: { position: number; message: string }[] = []
      for (const record of recordsOf(run)) {
        const divergence = follower.apply(record)
        if (divergence !== undefined) {
          const { position, field, journalSays, codeSays } = divergence
          divergences.push({ position, message: `${field}: the journal says ${journalSays}, the code now says ${codeSays}` })
        }
      }
      return divergences
    },
    state: () => {
      const { state, stateHash, position } = follower.state()
      return { bytes: state, hash: stateHash, position }
    },
  }
  return port
}
