import type { Plugin, PluginType } from '../../core/contract.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { Place } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest.ts'
import { ParameterError } from '../../core/parameters.ts'
import { missingRoles } from '../../core/roles.ts'
import type { Problems } from '../problems.ts'
import type { PluginEntry } from './document.ts'
import { inOrderOfReference } from './plugin-order.ts'
import type { TypedEntry } from './plugin-order.ts'

/** The types there are, and those known from llm-d that are not built. */
export interface TypeList {
  readonly types: ReadonlyMap<string, PluginType>
  readonly known: ReadonlySet<string>
  readonly allowExperimental: boolean
}

export interface MadePlugin {
  readonly entry: PluginEntry
  readonly type: PluginType
  readonly plugin: Plugin
  /** The rule that added it; undefined where it was written. */
  readonly injectedBy: string | undefined
}

/** The plugins of a configuration, in the order in which they were made. */
export class PluginSet {
  private readonly byName = new Map<string, MadePlugin>()
  private readonly list: TypeList
  private readonly problems: Problems
  /** All names given, right or wrong: so that one wrong plugin gives one error. */
  private readonly names = new Set<string>()

  constructor(list: TypeList, problems: Problems) {
    this.list = list
    this.problems = problems
  }

  /** Makes the plugins that are written, telling what is wrong with each. */
  configure(entries: readonly PluginEntry[]): void {
    const firsts: PluginEntry[] = []
    for (const entry of entries) {
      if (this.names.has(entry.name)) this.problems.error('config-duplicate', `there are two plugins \`${entry.name}\``, placeOf(entry, entry.cursor?.field('name').given === true ? 'name' : 'type'))
      else firsts.push(entry)
      this.names.add(entry.name)
    }
    const typed = firsts.map((entry) => this.typed(entry)).filter((entry) => entry !== undefined)
    for (const entry of inOrderOfReference(typed, this.names, this.problems)) {
      // What is wrong with a plugin named has been told, and would be told again by the one that names it.
      if (entry.references.every((name) => this.byName.has(name))) this.make(entry, undefined)
    }
  }

  /** Adds a plugin of this type under the type's name, unless one is named so; undefined where it cannot be made. */
  inject(type: string, rule: string): MadePlugin | undefined {
    if (this.names.has(type)) return this.byName.get(type)
    this.names.add(type)
    const typed = this.typed({ name: type, type, parameters: undefined }, ` (added: ${rule})`)
    return typed && this.make(typed, rule)
  }

  get(name: string): MadePlugin | undefined {
    return this.byName.get(name)
  }

  has(name: string): boolean {
    return this.names.has(name)
  }

  isBuilt(type: string): boolean {
    return this.list.types.has(type)
  }

  isKnown(type: string): boolean {
    return this.list.types.has(type) || this.list.known.has(type)
  }

  get all(): readonly MadePlugin[] {
    return [...this.byName.values()]
  }

  /** "; did you mean ..." among the names of plugins; else whether a type is called so. */
  hint(name: string): string {
    if (this.isKnown(name)) return `; there is a type called so: list it under \`plugins\``
    const near = didYouMean(name, this.names)
    return near === '' ? didYouMean(name, this.list.types.keys()) : near
  }

  private typed(entry: PluginEntry, why = ''): TypedEntry | undefined {
    const type = this.list.types.get(entry.type)
    const place = placeOf(entry, 'type')
    if (type === undefined) {
      if (this.list.known.has(entry.type)) this.problems.error('config-plugin-not-built', `plugin type \`${entry.type}\` is known from llm-d but not built${why}`, place)
      else this.problems.error('config-unknown-plugin', `unknown plugin type \`${entry.type}\`${didYouMean(entry.type, [...this.list.types.keys(), ...this.list.known])}${why}`, place)
      return undefined
    }
    if (type.stability === 'alpha' && !this.list.allowExperimental) {
      this.problems.error('config-experimental', `plugin type \`${entry.type}\` is experimental (alpha)${why}`, place)
    }
    if (type.deprecated !== undefined) {
      const { since, removal, replacement } = type.deprecated
      this.problems.warn(`plugin type \`${entry.type}\` is deprecated since ${since} and goes in ${removal}; use \`${replacement}\``, place)
    }
    return { entry, type }
  }

  private make({ entry, type }: TypedEntry, injectedBy: string | undefined): MadePlugin | undefined {
    try {
      const plugin = type.create({
        name: entry.name,
        parameters: entry.parameters,
        plugin: (name) => this.byName.get(name)?.plugin,
        warn: (message) => this.problems.warn(message, placeOf(entry, 'parameters')),
      })
      const missing = missingRoles(type, plugin)
      if (missing.length > 0) this.problems.error('config-invalid', `plugin type \`${type.type}\` says it is a ${missing.join(' and a ')} but has not the methods of one`, placeOf(entry, 'type'))
      const made = { entry, type, plugin, injectedBy }
      this.byName.set(entry.name, made)
      return made
    } catch (error) {
      this.tell(entry, error)
      return undefined
    }
  }

  private tell(entry: PluginEntry, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    const code = error instanceof SignalboxError ? error.code : 'config-invalid'
    const place = error instanceof ParameterError ? entry.cursor?.placeOf(['parameters', ...error.path], 'key') : placeOf(entry, 'parameters')
    this.problems.error(code, `plugin \`${entry.name}\`: ${message}`, place)
  }
}

/** Of a field of an entry; the entry itself where it is not given. */
const placeOf = (entry: PluginEntry, field: string): Place | undefined => entry.cursor?.placeOf(entry.cursor.field(field).given ? [field] : [])
