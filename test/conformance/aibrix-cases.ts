import { expect } from 'vitest'
import { LABELS, UNMEASURED, type Pod, type PodMetrics } from '../../src/aibrix/index.ts'
import { SeededStream, type RandomStream } from '../../src/core/random.ts'

/** A pod as the files tell it. */
export interface PodCase {
  readonly name: string
  readonly role?: string
  readonly roleset?: string
  readonly ip?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly metrics?: Readonly<Record<string, number>>
  readonly activePrefill?: number
  readonly pendingDecode?: number
}

/** A pod with what the files know of its load. */
export interface TestPod extends Pod {
  readonly metrics: PodMetrics
  readonly activePrefill: number
  readonly pendingDecode: number
}

export const podOf = (given: PodCase): TestPod => ({
  id: given.name,
  address: given.ip ?? '127.0.0.1',
  labels: new Map([
    ...Object.entries(given.labels ?? {}),
    ...(given.role === undefined ? [] : [[LABELS.role, given.role] as const]),
    ...(given.roleset === undefined ? [] : [[LABELS.roleset, given.roleset] as const]),
  ]),
  annotations: new Map(Object.entries(given.annotations ?? {})),
  metrics: metricsFrom(given.metrics ?? {}),
  activePrefill: given.activePrefill ?? 0,
  pendingDecode: given.pendingDecode ?? 0,
})

const metricsFrom = (given: Readonly<Record<string, number>>): PodMetrics => ({
  ...UNMEASURED,
  runningRequests: given['runningRequests'],
  generationThroughput: given['generationThroughput'],
  kvCacheUsage: given['kvCacheUsage'],
  drainRate1m: given['drainRate1m'],
  waitingRequests: given['waitingRequests'],
  queueDrainRate1m: given['promDrainRate1m'],
})

/** Numbers from their form in the files: NaN and infinities are words. */
export const numberOf = (given: number | string): number =>
  typeof given === 'number' ? given : given === 'NaN' ? NaN : given === '+Inf' ? Infinity : given === '-Inf' ? -Infinity : Number(given)

export const die = (): RandomStream => new SeededStream([]).begin(7, 0, 1, 1, 'case', 'router')

export const tally = <P extends TestPod>(pods: readonly P[]): ReadonlyMap<string, number> => new Map(pods.map(({ id, activePrefill }) => [id, activePrefill]))

const RELATIVE_TOLERANCE = 1e-12

/** Asserts that a value is as the file has it: numbers within 1e-12 of their size, any of several where it says `anyOf`. */
export const expectAsFile = (actual: unknown, expected: unknown): void => {
  const options = anyOf(expected) ?? [expected]
  const differences = options.map((option) => differenceOf(actual, option, 'value'))
  expect(differences.some((difference) => difference === undefined), differences.join(' | ')).toBe(true)
}

const anyOf = (expected: unknown): readonly unknown[] | undefined =>
  typeof expected === 'object' && expected !== null && 'anyOf' in expected ? (expected.anyOf as readonly unknown[]) : undefined

const differenceOf = (actual: unknown, expected: unknown, path: string): string | undefined => {
  const options = anyOf(expected)
  if (options !== undefined) {
    const all = options.map((option) => differenceOf(actual, option, path))
    return all.includes(undefined) ? undefined : all.join(' | ')
  }
  if (typeof actual === 'number') return isNear(actual, numberOf(expected as number)) ? undefined : `${path}: ${actual} instead of ${String(expected)}`
  if (actual instanceof Map) return differenceOf(Object.fromEntries(actual), expected, path)
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (actual.length !== expected.length) return `${path}: ${actual.length} items instead of ${expected.length}`
    return firstOf(expected.map((item, i) => differenceOf(actual[i], item, `${path}[${i}]`)))
  }
  if (typeof expected === 'object' && expected !== null && typeof actual === 'object' && actual !== null) {
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
    return firstOf([...names].map((name) => differenceOf((actual as Record<string, unknown>)[name], (expected as Record<string, unknown>)[name], `${path}.${name}`)))
  }
  return actual === expected ? undefined : `${path}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`
}

const firstOf = (differences: readonly (string | undefined)[]): string | undefined => differences.find((difference) => difference !== undefined)

const isNear = (actual: number, expected: number): boolean =>
  Object.is(actual, expected) || actual === expected || Math.abs(actual - expected) <= RELATIVE_TOLERANCE * Math.abs(expected)
