import { ParameterError, type Field } from './parameters.ts'

const MILLIS_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['\u00b5s', 1e-3],
  ['\u03bcs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

/** Milliseconds of a duration such as "1h30m", "1.5s" or "-200ms"; undefined when it is none. (Go: time.ParseDuration) */
export const parseDuration = (text: string): number | undefined => {
  const sign = text.startsWith('-') ? -1 : 1
  const body = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text
  if (body === '0') return 0
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(body)) return undefined
  let sum = 0
  for (const [, amount = '', unit = ''] of body.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g)) {
    sum += Number(amount) * (MILLIS_PER_UNIT.get(unit) ?? 0)
  }
  return sign * sum
}

/** A duration written as Go does; milliseconds. */
export const durationMs = <D extends number | undefined>(fallback: D): Field<number | D> => ({
  fallback,
  read: (value, path) => {
    const millis = typeof value === 'string' ? parseDuration(value) : undefined
    if (millis !== undefined) return millis
    const given = typeof value === 'string' ? `"${value}"` : typeof value === 'number' ? `number ${value}` : typeof value
    throw new ParameterError(`${path.at(-1) ?? 'value'} must be a duration such as "200ms" or "1m30s", got ${given}`, path)
  },
})
