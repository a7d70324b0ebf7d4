// The arithmetic that decisions need beyond + - * / and sqrt, built from these alone: IEEE 754 fixes them to the last
// bit, while the engine's own functions differ between versions.

/** 0 for what is below 0 or not a number, 1 for what is above 1, else the number itself. */
export const clamp01 = (x: number): number => (x > 0 ? (x < 1 ? x : 1) : 0)

/** The nearest whole number; halves go away from zero. (Go: math.Round) */
export const roundHalfAway = (x: number): number => {
  const whole = Math.trunc(x)
  return Math.abs(x - whole) >= 0.5 ? whole + (x < 0 ? -1 : 1) : whole
}

/** Orders numbers from the highest down; what is not a number comes last. */
export const descending = (a: number, b: number): number => {
  if (a > b) return -1
  if (a < b) return 1
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
}

const LN2_HIGH = 0.6931471803691238
const LN2_LOW = 1.9082149292705877e-10
const SQRT_HALF = 0.7071067811865476
const TWO_TO_54 = 18014398509481984
// 1/23 to 1/3: with s at most 0.1716 the term s^23 / 23 is below 2^-53 of s.
const COEFFICIENTS = Float64Array.from([23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3], (n) => 1 / n)

const view = new DataView(new ArrayBuffer(8))

/**
 * The natural logarithm, to about 1 unit in the last place, the same bits on every machine. Range: any number; 0 gives
 * -Infinity, a negative one NaN. (x = 2^k m with m in [sqrt 1/2, sqrt 2), ln m = 2 artanh((m - 1) / (m + 1)))
 */
export const naturalLogarithm = (x: number): number => {
  if (!(x > 0)) return x === 0 ? -Infinity : NaN
  if (x === Infinity) return x
  let exponent = 0
  let scaled = x
  if (x < 2.2250738585072014e-308) {
    scaled = x * TWO_TO_54
    exponent = -54
  }
  view.setFloat64(0, scaled)
  const high = view.getUint32(0)
  exponent += (high >>> 20) - 1022
  view.setUint32(0, (high & 0x000fffff) | 0x3fe00000)
  let m = view.getFloat64(0)
  if (m < SQRT_HALF) {
    m *= 2
    exponent -= 1
  }
  const s = (m - 1) / (m + 1)
  const square = s * s
  let sum = 0
  for (let i = 0; i < COEFFICIENTS.length; i++) sum = (sum + (COEFFICIENTS[i] as number)) * square
  return exponent * LN2_HIGH + (2 * s * (1 + sum) + exponent * LN2_LOW)
}

// The bits of a fraction that can matter to a double.
const FRACTION_BITS = 53

/**
 * x to a power, for x >= 0 and a power >= 0, the same bits on every machine: whole powers by squaring, fractions by square
 * roots. To about 1e-14 of the true value for ordinary arguments.
 */
export const power = (x: number, exponent: number): number => {
  if (x === 0) return exponent === 0 ? 1 : 0
  let whole = Math.floor(exponent)
  let fraction = exponent - whole
  let result = 1
  for (let square = x; whole > 0; square *= square) {
    if (whole % 2 === 1) result *= square
    whole = Math.floor(whole / 2)
  }
  for (let bit = 0, root = Math.sqrt(x); bit < FRACTION_BITS && fraction > 0; bit++, root = Math.sqrt(root)) {
    fraction *= 2
    if (fraction < 1) continue
    result *= root
    fraction -= 1
  }
  return result
}
