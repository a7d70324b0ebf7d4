import { MICROS_PER_S } from '../core/instant.ts'

/** A segment that holds this many bytes of batches asks for a base, and so for the next segment. */
export const SEGMENT_BYTES_MAX = 256_000_000
/** A segment that is this old asks for a base: recovery and retention work in pieces of at most an hour. */
export const SEGMENT_AGE_MAX_US: number = 3600 * MICROS_PER_S

export interface SegmentRules {
  readonly bytesMax: number
  readonly ageMaxUs: number
}

export const SEGMENT_RULES: SegmentRules = { bytesMax: SEGMENT_BYTES_MAX, ageMaxUs: SEGMENT_AGE_MAX_US }

/** One segment: a base, and the batches after it up to the next base. */
export interface SegmentInfo {
  /** Position of its base, which names it. */
  readonly basePosition: number
  /** Time of the base, in microseconds since the Unix epoch. */
  readonly atUs: number
  /** Position of its last record; that of the base when it has none. */
  readonly lastPosition: number
  /** Time of its last record. */
  readonly lastAtUs: number
  /** Bytes of its batches. */
  readonly bytes: number
  readonly baseBytes: number
  readonly batches: number
  /** Whether its base declares positions before it as missing. */
  readonly declaresMissing: boolean
}

/** Whether a segment that began at `openedAtUs` and holds `bytes` of batches is full at `atUs`. An empty one never is. */
export function isFull(bytes: number, openedAtUs: number, atUs: number, rules: SegmentRules = SEGMENT_RULES): boolean {
  return bytes >= rules.bytesMax || (bytes > 0 && atUs - openedAtUs >= rules.ageMaxUs)
}
