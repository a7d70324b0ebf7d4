/** The environment, by name; unset and empty are the same. */
export type Environment = Readonly<Record<string, string | undefined>>

const INT64_MAX = 9_223_372_036_854_775_807n
const UINT64_MAX = 18_446_744_073_709_551_615n

/** A decimal whole number of 64 bits above 0, else the fallback. (AIBrix: LoadEnvInt) */
export const positiveInteger = (raw: string | undefined, fallback: bigint): bigint => {
  if (raw === undefined || !/^[+-]?\d+$/.test(raw)) return fallback
  const value = BigInt(raw.startsWith('+') ? raw.slice(1) : raw)
  return value > 0n && value <= INT64_MAX ? value : fallback
}

/**
 * A number as Go reads it, unless it is 0 or less or does not fit, else the fallback. NaN and infinity are taken.
 * (AIBrix: LoadEnvFloat)
 */
export const positiveNumber = (raw: string | undefined, fallback: number): number => {
  const value = raw === undefined || raw === '' ? undefined : goFloat(raw)
  return value === undefined || value <= 0 ? fallback : value
}

/** true or false as Go reads it, else the fallback. (AIBrix: LoadEnvBool) */
export const truth = (raw: string | undefined, fallback: boolean): boolean => {
  if (raw !== undefined && /^(?:1|t|T|TRUE|true|True)$/.test(raw)) return true
  if (raw !== undefined && /^(?:0|f|F|FALSE|false|False)$/.test(raw)) return false
  return fallback
}

/** The text as it stands, blanks included, else the fallback. (AIBrix: LoadEnv) */
export const textOr = (raw: string | undefined, fallback: string): string => (raw === undefined || raw === '' ? fallback : raw)

/** The low 32 bits of a whole number, signed. */
export const wrapped32 = (value: bigint): number => Number(BigInt.asIntN(32, value))

/**
 * The seed of the prefix hashes; undefined stands for one drawn at random, which is what AIBrix does where nothing useful
 * is given and no state is shared between replicas. (AIBrix: prefix cache hash seed)
 */
export const hashSeedOf = (environment: Environment): bigint | undefined => {
  const shared = truth(environment['AIBRIX_STATESYNC_ENABLED'], false)
  const raw = environment['AIBRIX_PREFIX_CACHE_HASH_SEED']
  if (raw !== undefined && /^\d+$/.test(raw) && BigInt(raw) <= UINT64_MAX) return BigInt(raw)
  return shared ? 0n : undefined
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const HEXADECIMAL = /^([+-]?)0[xX]([\da-fA-F]*)\.?([\da-fA-F]*)[pP]([+-]?\d{1,9})$/

/** A double as Go's ParseFloat reads it; undefined for what it refuses, too large numbers included. */
const goFloat = (raw: string): number | undefined => {
  if (/^[+-]?nan$/i.test(raw)) return NaN
  if (/^[+-]?inf(?:inity)?$/i.test(raw)) return raw.startsWith('-') ? -Infinity : Infinity
  const value = DECIMAL.test(raw) ? Number(raw) : hexadecimal(raw)
  return value === undefined || !Number.isFinite(value) ? undefined : value
}

const hexadecimal = (raw: string): number | undefined => {
  const match = HEXADECIMAL.exec(raw)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = whole + fraction
  if (digits === '') return undefined
  let value = Number.parseInt(digits, 16)
  for (let shift = Number(exponent) - 4 * fraction.length; shift !== 0 && value !== 0 && Number.isFinite(value); shift -= Math.sign(shift)) {
    value = shift > 0 ? value * 2 : value / 2
  }
  return sign === '-' ? -value : value
}
