import { encodeDecision } from '../wire/decision.ts'
import type { Decision } from '../wire/decision.ts'
import { toBytes } from '../wire/runtime.ts'

/** The first difference between what a journal holds and what the engine does now. */
export interface Divergence {
  /** Position of the record. */
  readonly position: number
  /** Where in the record, such as "decisions.0.profiles.1.picks.0.endpoint". */
  readonly field: string
  readonly journalSays: string
  readonly codeSays: string
}

/** Compares decisions; undefined when they are the same to the byte. */
export const compareDecisions = (position: number, journal: readonly Decision[], code: readonly Decision[]): Divergence | undefined => {
  if (journal.length === 0 && code.length === 0) return undefined
  if (alike(journal, code)) return undefined
  if (journal.length === code.length && journal.every((decision, i) => sameBytes(toBytes(encodeDecision, decision), toBytes(encodeDecision, code[i] as Decision)))) return undefined
  const { value: difference } = differencesIn('decisions', journal, code).next()
  return { position, ...(difference ?? { field: 'decisions', journalSays: 'other bytes', codeSays: 'these bytes' }) }
}

/** Every field in which decisions differ, in order, up to so many. */
export const decisionDifferences = (position: number, journal: readonly Decision[], code: readonly Decision[], most: number): Divergence[] => {
  const found: Divergence[] = []
  for (const difference of differencesIn('decisions', journal, code)) {
    if (found.length === most) break
    found.push({ position, ...difference })
  }
  return found
}

/** Whether plain data is the same in every field, and so is written as the same bytes. */
const alike = (a: unknown, b: unknown): boolean => {
  if (Object.is(a, b)) return true
  if (!isRecord(a) || !isRecord(b)) return false
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!alike(a[i], b[i])) return false
    return true
  }
  // Counted, not asked for with `in`: V8 compiles that for one name, meets another, and begins again without end.
  let more = 0
  for (const key in a) {
    if (!alike(a[key], b[key])) return false
    more += 1
  }
  for (const _key in b) more -= 1
  return more === 0
}

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

type Difference = Omit<Divergence, 'position'>

/** The fields, in order, that differ; plain data only. */
function* differencesIn(field: string, journal: unknown, code: unknown): Generator<Difference, undefined, undefined> {
  if (Object.is(journal, code)) return undefined
  if (!isRecord(journal) || !isRecord(code)) {
    yield { field, journalSays: show(journal), codeSays: show(code) }
    return undefined
  }
  for (const key of new Set([...Object.keys(journal), ...Object.keys(code)])) yield* differencesIn(`${field}.${key}`, journal[key], code[key])
  return undefined
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

const show = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (typeof value === 'bigint') return value.toString(16).padStart(16, '0')
  if (isRecord(value)) return JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? each.toString(16) : each))
  return typeof value === 'string' ? `"${value}"` : String(value)
}
