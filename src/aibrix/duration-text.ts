/** Buckets of durations and of whole requests, in ms; the first begins at 0, the last has no end. (AIBrix) */
const DURATION_BOUNDS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]
const TOTAL_BOUNDS: readonly number[] = [100, 250, 500, 1000, 5000, 20_000, 60_000]
const TOKEN_BOUNDS: readonly number[] = [256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768]

const US_PER_MS = 1000
const US_PER_S = 1_000_000

/** The bucket of a phase: "2-5ms", "5000ms+"; microseconds, below 0 counts as 0. (AIBrix: duration buckets) */
export const durationBucket = (us: number): string => millisBucket(us, DURATION_BOUNDS)

/** The bucket of a whole request: "500-1000ms", "60000ms+"; microseconds. (AIBrix: total time buckets) */
export const totalBucket = (us: number): string => millisBucket(us, TOTAL_BOUNDS)

/** The bucket of a count of tokens: "256-512", "32768+". (AIBrix: token buckets) */
export const tokenBucket = (tokens: number): string => bucket(tokens, TOKEN_BOUNDS, '')

const millisBucket = (us: number, bounds: readonly number[]): string => bucket(Math.max(0, Math.trunc(us / US_PER_MS)), bounds, 'ms')

const bucket = (value: number, bounds: readonly number[], unit: string): string => {
  const at = bounds.findIndex((bound) => value < bound)
  if (at < 0) return `${bounds.at(-1) ?? 0}${unit}+`
  return `${at === 0 ? 0 : (bounds[at - 1] ?? 0)}-${bounds[at] ?? 0}${unit}`
}

/** A duration in microseconds as Go writes it: "0s", "15µs", "1.5ms", "2.000345s", "1m2.5s", "1h0m0s". (Go: time.Duration) */
export const goDuration = (us: number): string => {
  const sign = us < 0 ? '-' : ''
  const size = Math.abs(Math.trunc(us))
  if (size === 0) return '0s'
  if (size < US_PER_MS) return `${sign}${size}µs`
  if (size < US_PER_S) return `${sign}${fraction(size, US_PER_MS)}ms`
  const minutes = Math.floor(size / (60 * US_PER_S))
  const seconds = `${fraction(size - minutes * 60 * US_PER_S, US_PER_S)}s`
  if (minutes === 0) return `${sign}${seconds}`
  const hours = Math.floor(minutes / 60)
  return `${sign}${hours === 0 ? '' : `${hours}h`}${minutes - hours * 60}m${seconds}`
}

/** A quotient in decimal, without zeros at its end; the divisor is a power of ten. */
const fraction = (value: number, divisor: number): string => {
  const whole = Math.floor(value / divisor)
  const rest = String(value - whole * divisor).padStart(String(divisor).length - 1, '0').replace(/0+$/, '')
  return rest === '' ? String(whole) : `${whole}.${rest}`
}
