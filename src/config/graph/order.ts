import { keyText } from '../../core/attribute.ts'
import type { DataKey } from '../../core/attribute.ts'
import type { PluginKind } from '../../core/contract.ts'
import type { MadePlugin } from '../endpoint-picker/plugin-set.ts'
import type { Problems } from '../problems.ts'
import { producedKeys, producersByKey, requiredKeys } from './producers.ts'

/** One way of data through the plugins: who needs what from whom. */
export interface DataEdge {
  readonly producer: string
  readonly key: string
  readonly consumer: string
}

/** The plugins ordered so that each comes after those whose data it requires, and the edges that say so. */
export interface DataOrder {
  readonly order: readonly MadePlugin[]
  readonly edges: readonly DataEdge[]
}

/** When in the way of a request a kind acts; kinds that act outside it have no layer. (llm-d: layers) */
const LAYERS: Partial<Readonly<Record<PluginKind, number>>> = {
  'flow-control': 0,
  'admission-controller': 0,
  producer: 1,
  admitter: 1,
  screener: 1,
  'pre-request': 1,
  'response-body': 1,
  reporter: 1,
  filter: 2,
  scorer: 2,
  picker: 2,
  decider: 2,
  'profile-handler': 2,
}

const layersOf = ({ type }: MadePlugin): readonly number[] => type.kinds.map((kind) => LAYERS[kind]).filter((layer) => layer !== undefined)

/** Data is there from the first time that its producer acts, and needed the last time that its consumer does. */
const isTooEarly = (consumer: MadePlugin, producer: MadePlugin): boolean => {
  const [wanted, made] = [layersOf(consumer), layersOf(producer)]
  return wanted.length > 0 && made.length > 0 && Math.max(...wanted) < Math.min(...made)
}

/** Sorts by required keys; of those that may come next the first made comes first. A circle is an error that names it. (Kahn) */
export const orderByData = (plugins: readonly MadePlugin[], problems: Problems): DataOrder => {
  const producers = producersByKey(plugins)
  const edges: DataEdge[] = []
  const needs = new Map<MadePlugin, MadePlugin[]>()
  for (const consumer of plugins) {
    const needed: MadePlugin[] = []
    for (const key of requiredKeys(consumer)) {
      const producer = producers.get(keyText(key))
      if (producer === undefined) continue
      checkEdge(producer, key, consumer, problems)
      edges.push({ producer: producer.entry.name, key: keyText(key), consumer: consumer.entry.name })
      needed.push(producer)
    }
    needs.set(consumer, needed)
  }
  const order: MadePlugin[] = []
  const done = new Set<MadePlugin>()
  const waiting = [...plugins]
  for (;;) {
    const next = waiting.findIndex((made) => (needs.get(made) ?? []).every((needed) => done.has(needed)))
    if (next < 0) break
    for (const made of waiting.splice(next, 1)) {
      order.push(made)
      done.add(made)
    }
  }
  if (waiting.length > 0) tellCircle(waiting, needs, problems)
  return { order, edges }
}

const checkEdge = (producer: MadePlugin, key: DataKey<unknown>, consumer: MadePlugin, problems: Problems): void => {
  const given = producedKeys(producer).find((produced) => keyText(produced) === keyText(key))?.value
  const [has, wants] = [kindOf(given), kindOf(key.value)]
  if (has !== undefined && wants !== undefined && has !== wants) {
    problems.error('config-graph', `\`${consumer.entry.name}\` reads ${keyText(key)} as ${wants}, \`${producer.entry.name}\` writes it as ${has}`, consumer.entry.cursor?.place)
  }
  if (isTooEarly(consumer, producer)) {
    problems.error('config-graph', `\`${consumer.entry.name}\` requires ${keyText(key)} before \`${producer.entry.name}\` can have produced it`, consumer.entry.cursor?.place)
  }
}

/** What a key's sample value is, where the key bears one. */
const kindOf = (sample: unknown): string | undefined => {
  if (sample === undefined || sample === null) return undefined
  return typeof sample === 'object' ? `{${Object.keys(sample).sort().join(', ')}}` : typeof sample
}

const tellCircle = (waiting: readonly MadePlugin[], needs: ReadonlyMap<MadePlugin, readonly MadePlugin[]>, problems: Problems): void => {
  const trail: MadePlugin[] = []
  let at = waiting[0]
  while (at !== undefined && !trail.includes(at)) {
    trail.push(at)
    at = needs.get(at)?.find((needed) => waiting.includes(needed))
  }
  const circle = at === undefined ? trail : [...trail.slice(trail.indexOf(at)), at]
  problems.error('config-graph', `plugins require each other's data in a circle: ${circle.map(({ entry }) => `\`${entry.name}\``).join(' > ')}`, circle[0]?.entry.cursor?.place)
}
