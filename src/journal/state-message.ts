import { decodeBase, decodeSnapshot, emptyBase, emptySnapshot, encodeBase, encodeSnapshot, toBytes } from '../wire/index.ts'
import type { Base, MissingRange, Snapshot } from '../wire/index.ts'
import { SCHEMA_VERSION } from './schema-version.ts'
import { sealed, unsealed } from './seal.ts'

/** The state of the engine after a position, as whoever followed the records knows it. */
export interface StateAt {
  readonly position: number
  /** Time of the record at the position, in microseconds since the Unix epoch. */
  readonly atUs: number
  readonly stateHash: bigint
  /** An encoded `EngineState`. */
  readonly state: Uint8Array
}

/** A base or a snapshot as it is stored. */
export interface SealedState {
  readonly position: number
  readonly atUs: number
  readonly seal: bigint
  /** The encoded `Base` or `Snapshot`. */
  readonly bytes: Uint8Array
}

/** The base of an empty journal. Its time is 0, so that the first record may be of any time. */
export function emptyJournalBase(): SealedState {
  return sealBase({ position: 0, atUs: 0, stateHash: 0n, state: new Uint8Array(0) }, 0n)
}

/** Seals the base that opens a segment after the batch with the seal `previous`. */
export function sealBase(at: StateAt, previous: bigint, missing?: MissingRange): SealedState {
  const base = { ...emptyBase(), ...at, schemaVersion: SCHEMA_VERSION, previousHash: previous, missing }
  return { position: at.position, atUs: at.atUs, ...sealed(toBytes(encodeBase, base)) }
}

export function sealSnapshot(at: StateAt): SealedState {
  const snapshot = { ...emptySnapshot(), ...at, schemaVersion: SCHEMA_VERSION }
  return { position: at.position, atUs: at.atUs, ...sealed(toBytes(encodeSnapshot, snapshot)) }
}

/** The base that the bytes hold; undefined when they were changed or cut. */
export function openBase(bytes: Uint8Array): Base | undefined {
  return unsealed(decodeBase, bytes)
}

/** The snapshot that the bytes hold; undefined when they were changed or cut, or are of another schema version. */
export function openSnapshot(bytes: Uint8Array): Snapshot | undefined {
  const snapshot = unsealed(decodeSnapshot, bytes)
  return snapshot?.schemaVersion === SCHEMA_VERSION ? snapshot : undefined
}

/** The seal that the batch after this base names. */
export function chainAfter(base: Base): bigint {
  return base.position === 0 || base.missing !== undefined ? base.seal : base.previousHash
}
