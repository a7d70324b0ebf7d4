import type { Registry } from 'prom-client'
import type { Observation } from '../../core/contract.ts'
import { byCodeUnit } from '../../core/order.ts'
import { AIBRIX_CATALOGUE } from './aibrix-catalogue.ts'
import type { BoundedNames } from './bounded-names.ts'
import { CATALOGUE, DEFAULT_BOUNDS } from './catalogue.ts'
import type { CatalogueEntry } from './catalogue.ts'
import { CounterFamily, GaugeFamily, HistogramFamily } from './family.ts'
import type { Family, HistogramCell, NumberCell } from './family.ts'

export const PREFIX = 'llm_d_epp_'
const WHOLE_NAME = /^(?:llm_d_|inference_|gateway_|pd_selected_)/
const METRIC_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/
/** Metrics that no catalogue has, as plugins of the user make them. */
const UNKNOWN_MAX = 256

type AnyFamily = CounterFamily | GaugeFamily | HistogramFamily

interface Watched {
  readonly entry: CatalogueEntry
  readonly family: AnyFamily
  readonly labels: readonly string[]
  /** Plugins that observe much pass the same labels object each time. */
  lastLabels: object | undefined
  lastCell: NumberCell | HistogramCell | undefined
  /** Cells of gauges by the labels objects that their observers keep, as long as no series was dropped. */
  held: WeakMap<object, NumberCell | HistogramCell>
  generation: number
}

/** Label values that clients choose. */
export interface Folding {
  readonly models: BoundedNames
  readonly fairnessIds: BoundedNames
}

/** Counts what plugins and adapters observe. What is not known is made at its first observation. */
export class Observations {
  private readonly registry: Registry
  private readonly folding: Folding
  private readonly watched = new Map<string, Watched | undefined>()
  private unknown = 0
  /** Observations that could not be counted. */
  dropped = 0

  constructor(registry: Registry, folding: Folding) {
    this.registry = registry
    this.folding = folding
    for (const [name, entry] of Object.entries(CATALOGUE)) this.watch(name, entry)
  }

  readonly observe = (observation: Observation): void => {
    const { name, labels, kind, value } = observation
    const watched = this.watched.has(name) ? this.watched.get(name) : this.meet(observation)
    if (watched === undefined || watched.entry.kind !== kind) {
      this.dropped += 1
      return
    }
    const cell = watched.lastLabels === labels ? watched.lastCell : this.heldCellOf(watched, labels)
    if (cell === undefined) this.dropped += 1
    else if (kind === 'histogram') (cell as HistogramCell).observe(value)
    else if (kind === 'counter') (cell as NumberCell).add(Math.max(0, value))
    else (cell as NumberCell).set(value)
  }

  /** Making the key of a series costs more than counting: where the same labels object comes again, its cell is known. */
  private heldCellOf(watched: Watched, labels: Observation['labels']): NumberCell | HistogramCell | undefined {
    if (watched.entry.kind !== 'gauge') return this.cellOf(watched, labels)
    if (watched.generation !== watched.family.generation) {
      watched.held = new WeakMap()
      watched.generation = watched.family.generation
    }
    const known = watched.held.get(labels)
    if (known !== undefined) return known
    const cell = this.cellOf(watched, labels)
    if (cell !== undefined && watched.generation === watched.family.generation) watched.held.set(labels, cell)
    return cell
  }

  private cellOf(watched: Watched, labels: Observation['labels']): NumberCell | HistogramCell | undefined {
    const values = watched.labels.map((label) => this.folded(label, labels[label] ?? ''))
    // A gauge of many under one name would show whichever spoke last.
    const isFolded = watched.entry.kind === 'gauge' && values.some((value, index) => value !== (labels[watched.labels[index] as string] ?? ''))
    const cell = isFolded ? undefined : (watched.family as Family<NumberCell | HistogramCell>).find(values)
    // Room is made by dropping gauges at 0, so their cells are not held.
    if (watched.entry.kind !== 'gauge') {
      watched.lastLabels = labels
      watched.lastCell = cell
    }
    return cell
  }

  private folded(label: string, value: string): string {
    if (label === 'model_name' || label === 'target_model_name') return this.folding.models.fold(value)
    return label === 'fairness_id' ? this.folding.fairnessIds.fold(value) : value
  }

  private meet({ name, kind, labels }: Observation): Watched | undefined {
    const known = AIBRIX_CATALOGUE[name]
    if (known !== undefined) return this.watch(name, known)
    if (this.unknown >= UNKNOWN_MAX || ![name, ...Object.keys(labels)].every((each) => METRIC_NAME.test(each))) return undefined
    this.unknown += 1
    return this.watch(name, { kind, help: 'Observed by a plugin.', labels: Object.keys(labels).sort(byCodeUnit) })
  }

  private watch(name: string, entry: CatalogueEntry): Watched | undefined {
    const description = { name: WHOLE_NAME.test(name) ? name : PREFIX + name, help: entry.help, labels: entry.labels, ...(entry.seriesMax === undefined ? {} : { seriesMax: entry.seriesMax }) }
    if (this.registry.getSingleMetric(description.name) !== undefined) {
      this.watched.set(name, undefined)
      return undefined
    }
    const family =
      entry.kind === 'histogram' ? new HistogramFamily(description, entry.bounds ?? DEFAULT_BOUNDS)
      : entry.kind === 'gauge' ? new GaugeFamily(description)
      : new CounterFamily(description)
    family.register(this.registry)
    if (entry.twin !== undefined) family.registerTwin(this.registry, entry.twin, entry.help.replace('[ALPHA] ', `[ALPHA] [Deprecated: Use ${description.name}] `))
    const watched: Watched = { entry, family, labels: entry.labels, lastLabels: undefined, lastCell: undefined, held: new WeakMap(), generation: family.generation }
    this.watched.set(name, watched)
    return watched
  }
}
