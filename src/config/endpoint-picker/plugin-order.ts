import type { PluginType } from '../../core/contract.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Problems } from '../problems.ts'
import type { PluginEntry } from './document.ts'
import type { Reference } from './reference.ts'

/** An entry of `plugins` whose type is there. */
export interface TypedEntry {
  readonly entry: PluginEntry
  readonly type: PluginType
}

/** An entry with the names of the plugins that its parameters name. */
export interface OrderedEntry extends TypedEntry {
  readonly references: readonly string[]
}

/**
 * The entries in the order in which they are made: each after those that its parameters name, and after all deciders where its
 * type may name one by default; otherwise as written. A name that is not there is told; entries that name each other in a circle
 * are told and left out. `names` are all names in the file, right or wrong.
 */
export const inOrderOfReference = (entries: readonly TypedEntry[], names: ReadonlySet<string>, problems: Problems): readonly OrderedEntry[] => {
  const byName = new Map(entries.map((typed) => [typed.entry.name, typed]))
  const needs = new Map<TypedEntry, readonly TypedEntry[]>()
  for (const typed of entries) {
    const references = referencesOf(typed)
    for (const { name, place } of references) {
      if (!names.has(name)) problems.error('config-unknown-reference', `\`${typed.entry.name}\` names the plugin \`${name}\`, which is not there${didYouMean(name, names)}`, place)
    }
    needs.set(typed, [...references.map(({ name }) => byName.get(name)).filter((needed) => needed !== undefined), ...possibleDefaults(typed, entries)])
  }
  const ordered: TypedEntry[] = []
  const waiting = [...entries]
  for (;;) {
    const next = waiting.findIndex((typed) => (needs.get(typed) ?? []).every((needed) => ordered.includes(needed)))
    if (next < 0) break
    ordered.push(...waiting.splice(next, 1))
  }
  const [first] = waiting
  if (first !== undefined) {
    const circle = circleFrom(first, needs, new Set(waiting))
    problems.error('config-graph', `plugins name each other in a circle: ${circle.map(({ entry }) => `\`${entry.name}\``).join(' > ')}`, circle[0]?.entry.cursor?.place)
  }
  return ordered.map((typed) => ({ ...typed, references: referencesOf(typed).map(({ name }) => name) }))
}

const possibleDefaults = (typed: TypedEntry, entries: readonly TypedEntry[]): readonly TypedEntry[] =>
  typed.type.references === undefined || typed.type.kinds.includes('decider')
    ? []
    : entries.filter(({ type }) => type.kinds.includes('decider') && type.references === undefined)

/** The names that the parameters give at the type's reference paths. */
const referencesOf = ({ entry, type }: TypedEntry): readonly Reference[] =>
  (type.references ?? []).flatMap((path) => valuesAt(entry.parameters, path.split('.'), []).map(({ name, given }) => {
    const place = entry.cursor?.placeOf(['parameters', ...given])
    return place === undefined ? { name } : { name, place }
  }))

/** Field names match without regard to case, as when the parameters are decoded. */
const valuesAt = (value: unknown, path: readonly string[], given: readonly string[]): readonly { name: string; given: readonly string[] }[] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => valuesAt(item, path, [...given, String(index)]))
  const [step, ...rest] = path
  if (step === undefined) return typeof value === 'string' && value !== '' ? [{ name: value, given }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .filter(([name]) => name.toLowerCase() === step.toLowerCase())
    .flatMap(([name, below]) => valuesAt(below, rest, [...given, name]))
}

/** From any of those that wait, following what waits too, one comes back to where one was. */
const circleFrom = (start: TypedEntry, needs: ReadonlyMap<TypedEntry, readonly TypedEntry[]>, waiting: ReadonlySet<TypedEntry>): readonly TypedEntry[] => {
  const trail: TypedEntry[] = []
  let at: TypedEntry | undefined = start
  while (at !== undefined && !trail.includes(at)) {
    trail.push(at)
    at = needs.get(at)?.find((needed) => waiting.has(needed))
  }
  return at === undefined ? trail : [...trail.slice(trail.indexOf(at)), at]
}
