import { ACTIVE_MODELS, fromProducer, KV_CACHE_USAGE, RUNNING_REQUESTS_SIZE, WAITING_MODELS, WAITING_QUEUE_SIZE, type DataKey } from '../../../core/attribute.ts'
import type { Plugin, PluginContext, PluginType, TypedName } from '../../../core/contract.ts'
import type { MetricFamilies } from '../../../core/exposition.ts'
import { didYouMean } from '../../../core/nearest.ts'
import { decodeParameters, ParameterError, text } from '../../../core/parameters.ts'
import { addedMetrics, engineConfigs, engineMappings, type EngineMapping } from './engines.ts'
import { extract, type Extraction } from './extraction.ts'

export type { EngineMapping } from './engines.ts'
export type { Extraction } from './extraction.ts'

const TYPE = 'core-metrics-extractor'
const LABEL = 'llm-d.ai/engine-type'
const OLD_LABEL = 'inference.networking.k8s.io/engine-type'

export interface CoreMetricsExtractorSettings {
  readonly engineLabelKey: string
  /** What endpoints without the label run, or with one that is not known. */
  readonly defaultEngine: string
  readonly engines: ReadonlyMap<string, EngineMapping>
}

/** Knows what each engine calls its metrics, and reads them from a parsed scrape. (llm-d: core-metrics-extractor) */
export class CoreMetricsExtractor implements Plugin {
  readonly typedName: TypedName
  readonly settings: CoreMetricsExtractorSettings
  private readonly fallback: EngineMapping

  constructor(name: string, settings: CoreMetricsExtractorSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
    const fallback = settings.engines.get(settings.defaultEngine)
    if (fallback === undefined) {
      const hint = didYouMean(settings.defaultEngine, settings.engines.keys())
      throw new ParameterError(`defaultEngine "${settings.defaultEngine}" not found in engineConfigs${hint}`, ['defaultEngine'])
    }
    this.fallback = fallback
  }

  produces(): readonly DataKey<unknown>[] {
    const { name } = this.typedName
    const keys: DataKey<unknown>[] = [KV_CACHE_USAGE, WAITING_QUEUE_SIZE, RUNNING_REQUESTS_SIZE, ACTIVE_MODELS, WAITING_MODELS].map((key) =>
      fromProducer<unknown>(key, name),
    )
    const custom = new Set<string>()
    for (const engine of this.settings.engines.values()) for (const { attributeKey } of [...engine.custom, ...engine.added]) custom.add(attributeKey)
    for (const dataType of custom) keys.push({ dataType, producer: name })
    return keys
  }

  /** How the engine of an endpoint with these labels names its metrics. */
  mappingFor(labels: ReadonlyMap<string, string>): EngineMapping {
    const engine = labels.get(this.settings.engineLabelKey) || labels.get(OLD_LABEL) || this.settings.defaultEngine
    return this.settings.engines.get(engine) ?? this.fallback
  }

  /** Reads one endpoint's metrics, told by its labels. */
  extract(families: MetricFamilies, labels: ReadonlyMap<string, string>): Extraction {
    return extract(families, this.mappingFor(labels))
  }
}

const settingsOf = (context: PluginContext): CoreMetricsExtractorSettings => {
  const given = decodeParameters(context.parameters, { engineLabelKey: text(LABEL), defaultEngine: text('vllm'), engineConfigs, addedMetrics })
  return {
    engineLabelKey: given.engineLabelKey || LABEL,
    defaultEngine: given.defaultEngine || 'vllm',
    engines: engineMappings(given.engineConfigs, given.addedMetrics),
  }
}

export const coreMetricsExtractor: PluginType = {
  type: TYPE,
  kinds: ['extractor'],
  stability: 'beta',
  create: (context) => new CoreMetricsExtractor(context.name, settingsOf(context)),
}
