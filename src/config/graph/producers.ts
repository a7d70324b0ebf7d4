import { keyText } from '../../core/attribute.ts'
import type { DataKey } from '../../core/attribute.ts'
import type { MadePlugin, PluginSet } from '../endpoint-picker/plugin-set.ts'
import type { Problems } from '../problems.ts'
import { DEFAULT_PRODUCERS } from './defaults.ts'

export const requiredKeys = ({ plugin }: MadePlugin): readonly DataKey<unknown>[] => plugin.consumes?.().required ?? []
const optionalKeys = ({ plugin }: MadePlugin): readonly DataKey<unknown>[] => plugin.consumes?.().optional ?? []
export const producedKeys = ({ plugin }: MadePlugin): readonly DataKey<unknown>[] => plugin.produces?.() ?? []

/** The first plugin, in order of making, that produces each key. */
export const producersByKey = (plugins: readonly MadePlugin[]): ReadonlyMap<string, MadePlugin> => {
  const producers = new Map<string, MadePlugin>()
  for (const made of plugins) {
    for (const key of producedKeys(made)) if (!producers.has(keyText(key))) producers.set(keyText(key), made)
  }
  return producers
}

/**
 * Adds the default producer of each required key that nobody produces, and of what those require in turn. A key that is still
 * missing when nothing more can be added is an error, told at its first consumer; a missing optional key is a note.
 * (llm-d: automatic producers)
 */
export const addMissingProducers = (set: PluginSet, problems: Problems): readonly string[] => {
  while (missing(set, requiredKeys).some(({ key, consumer }) => addProducer(set, key, consumer, problems)));
  for (const { key, consumer } of missing(set, requiredKeys)) {
    if (!problems.none && set.has(key.producer) && set.get(key.producer) === undefined) continue
    problems.error('config-graph', missingText(set, key, consumer), consumer.entry.cursor?.place)
  }
  return missing(set, optionalKeys).map(({ key, consumer }) => `\`${consumer.entry.name}\` can use ${keyText(key)}, which no plugin produces`)
}

const missing = (set: PluginSet, keys: (made: MadePlugin) => readonly DataKey<unknown>[]): readonly { key: DataKey<unknown>; consumer: MadePlugin }[] => {
  const producers = producersByKey(set.all)
  const seen = new Set<string>()
  return set.all.flatMap((consumer) =>
    keys(consumer).filter((key) => !producers.has(keyText(key)) && !seen.has(keyText(key)) && seen.add(keyText(key))).map((key) => ({ key, consumer })),
  )
}

/** The default producer makes data under its own name, so it helps a consumer that looks for that name only. */
const addProducer = (set: PluginSet, key: DataKey<unknown>, consumer: MadePlugin, problems: Problems): boolean => {
  const type = DEFAULT_PRODUCERS.get(key.dataType)
  if (type === undefined || type !== key.producer || set.has(type)) return false
  const renamed = producersOf(set, key)
  if (renamed !== '') problems.warn(`\`${consumer.entry.name}\` does not read ${renamed} but the producer \`${type}\`, which is added: name the producer in its parameters, if it should`, consumer.entry.cursor?.place)
  set.inject(type, `\`${consumer.entry.name}\` requires ${keyText(key)}`)
  return true
}

const missingText = (set: PluginSet, key: DataKey<unknown>, consumer: MadePlugin): string => {
  const what = `\`${consumer.entry.name}\` requires ${keyText(key)}, which no plugin produces`
  const named = set.get(key.producer)
  if (named !== undefined) return `${what}: \`${key.producer}\` is a ${named.type.type}`
  const others = producersOf(set, key)
  if (others !== '') return `${what}; ${others} produces data of this kind: name it in the parameters of \`${consumer.entry.name}\``
  const type = DEFAULT_PRODUCERS.get(key.dataType)
  return type === undefined ? what : `${what}; a plugin of type ${type} named \`${key.producer}\` would`
}

/** Those who produce data of this kind under another name. */
const producersOf = (set: PluginSet, key: DataKey<unknown>): string =>
  set.all.filter((made) => producedKeys(made).some(({ dataType }) => dataType === key.dataType)).map(({ entry }) => `\`${entry.name}\``).join(' and ')
