/** A point in time in microseconds since the Unix epoch; whole, exact up to 2^53 - 1 (the year 2255). */
export type Instant = number

/** A length of time in microseconds. */
export type Duration = number

export const MICROS_PER_MS = 1000
export const MICROS_PER_S = 1_000_000

/** Microseconds in this many milliseconds, rounded to a whole number. */
export const millis = (ms: number): Duration => Math.round(ms * MICROS_PER_MS)
