import { emptyEngineState, decodeEngineState, encodeEngineState } from '../wire/state.ts'
import { fromBytes, toBytes } from '../wire/runtime.ts'
import type { EngineState } from '../wire/state.ts'
import { SignalboxError } from '../core/errors.ts'
import { xxh64 } from '../core/hash/xxh64.ts'
import { Engine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/context.ts'
import type { StateAt } from '../journal/state-message.ts'

/** Encodes an engine's state as the journal keeps it, with its hash. */
export const encodeState = (engine: Engine): StateAt => {
  const state = toBytes(encodeEngineState, engine.state())
  return { position: engine.position, atUs: engine.at, state, stateHash: xxh64(state) }
}

/**
 * An engine in a state that a journal holds; a fresh one where the journal begins.
 * @throws SignalboxError state-invalid when the bytes are not a state, or do not have the hash they should
 */
export const engineAt = (options: EngineOptions, at: StateAt): Engine => {
  if (at.position === 0) return Engine.restore(options, emptyEngineState())
  if (xxh64(at.state) !== at.stateHash) throw new SignalboxError('state-invalid', `the state at position ${at.position} does not have the hash it was saved with`)
  let state: EngineState
  try {
    state = fromBytes(decodeEngineState, at.state)
  } catch (error) {
    throw new SignalboxError('state-invalid', `the state at position ${at.position} cannot be read: ${String(error)}`)
  }
  return Engine.restore(options, state)
}
