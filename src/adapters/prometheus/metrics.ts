import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Observation } from '../../core/contract.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { BoundedNames } from './bounded-names.ts'
import { CounterFamily, GaugeFamily } from './family.ts'
import { registerLiveGauges } from './live-gauges.ts'
import type { LiveSources } from './live-gauges.ts'
import { Observations, PREFIX } from './observations.ts'
import { RequestMeasures } from './request-measures.ts'
import type { MeasuredEffect } from './request-measures.ts'
import { TurnMeasures } from './turn-measures.ts'

/** Models that are told apart, and fairness ids. (llm-d: cardinality) */
const MODELS_MAX = 1000
const FAIRNESS_IDS_MAX = 1000

export interface MetricsOptions {
  readonly version: { readonly commit: string; readonly buildRef: string }
  /** Models named in the configuration: they always keep series of their own. */
  readonly configuredModels?: Iterable<string>
  /** Whether memory, CPU, garbage collection and event loop of the process are shown too. */
  readonly ofProcess: boolean
}

/** What a turn came to, as far as it is counted. */
export interface MeasuredTurn {
  readonly record: JournalRecord
  readonly effects: readonly MeasuredEffect[]
}

export interface EngineMetrics {
  /** Counts a turn and what it did to requests. */
  turn(turn: MeasuredTurn, tookMicros: number): void
  /** Counts what a plugin or an adapter saw. */
  observe(observation: Observation): void
  /** Shows the gauges that are read when asked for; to be called once. */
  show(sources: LiveSources): void
  /** The exposition, in the Prometheus text format. */
  text(): Promise<string>
  readonly contentType: string
}

/** Makes the metrics of one engine: llm-d's under its names, Signalbox's own under `signalbox_`. */
export const createMetrics = ({ version, configuredModels, ofProcess }: MetricsOptions): EngineMetrics => {
  const registry = new Registry()
  const folding = { models: new BoundedNames(MODELS_MAX, configuredModels), fairnessIds: new BoundedNames(FAIRNESS_IDS_MAX) }
  const observations = new Observations(registry, folding)
  const turns = new TurnMeasures(registry, folding)
  const requests = new RequestMeasures(registry, folding)
  new GaugeFamily({ name: `${PREFIX}info`, help: '[ALPHA] What runs: 1.', labels: ['commit', 'build_ref'] }).register(registry).cell(version.commit, version.buildRef).set(1)
  const dropped = new CounterFamily({ name: 'signalbox_metrics_dropped_total', help: 'Observations that found no place in a bounded metric.', labels: [] }).register(registry)
  dropped.collect = () => dropped.cell().set(observations.dropped)
  if (ofProcess) collectDefaultMetrics({ register: registry })
  return {
    turn: ({ record, effects }, tookMicros) => {
      turns.record(record, tookMicros)
      requests.record(record)
      for (const effect of effects) {
        turns.effect(effect)
        requests.effect(effect, record.atUs)
      }
    },
    observe: observations.observe,
    show: (sources) => registerLiveGauges(registry, sources),
    text: () => textOf(registry),
    contentType: registry.contentType,
  }
}

/** One metric after another, so that turns of the engine come between: all at once takes long when there are many series. */
const textOf = async (registry: Registry): Promise<string> => {
  const parts: string[] = []
  for (const { name } of registry.getMetricsAsArray()) {
    parts.push(await registry.getSingleMetricAsString(name))
    await new Promise((resume) => setImmediate(resume))
  }
  return `${parts.join('\n\n')}\n`
}
