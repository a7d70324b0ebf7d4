import type { DataKey } from '../../../src/core/attribute.ts'
import { KV_CACHE_USAGE, PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT, WAITING_QUEUE_SIZE } from '../../../src/core/attribute.ts'
import type { Plugin, PluginKind, PluginType } from '../../../src/core/contract.ts'
import { decodeParameters, int, text } from '../../../src/core/parameters.ts'

interface Sample {
  readonly type: string
  readonly kinds: readonly PluginKind[]
  readonly requires?: readonly DataKey<unknown>[]
  readonly wishes?: readonly DataKey<unknown>[]
  /** By data type; published under the plugin's own name. */
  readonly produces?: readonly DataKey<unknown>[]
  readonly references?: readonly string[]
  readonly stability?: 'alpha' | 'beta'
  readonly deprecated?: PluginType['deprecated']
  /** Takes `size`, a whole number, and `name`. */
  readonly parameters?: boolean
}

const METHODS: Partial<Record<PluginKind, Readonly<Record<string, unknown>>>> = {
  filter: { filter: (_: unknown, candidates: unknown) => candidates },
  scorer: { category: 'balance', score: () => undefined },
  picker: { pick: () => [] },
  producer: { produce: () => undefined },
  decider: { runs: () => true },
  detector: { saturation: () => 0 },
  'profile-handler': { pick: () => [], stageOf: () => 'decode', processResults: () => ({ primary: '', results: new Map() }) },
  'pre-request': { preRequest: () => undefined },
}

/** A plugin type that bears the methods of its kinds and does nothing in them: what the loader looks at, and no more. */
export const sampleType = (sample: Sample): PluginType => ({
  type: sample.type,
  kinds: sample.kinds,
  stability: sample.stability ?? 'beta',
  ...(sample.deprecated === undefined ? {} : { deprecated: sample.deprecated }),
  ...(sample.references === undefined ? {} : { references: sample.references }),
  create: ({ name, parameters }): Plugin => {
    if (sample.parameters === true) decodeParameters(parameters, { size: int(1), name: text('') })
    const methods: Record<string, unknown> = {}
    for (const kind of sample.kinds) Object.assign(methods, METHODS[kind])
    return {
      ...methods,
      typedName: { type: sample.type, name },
      consumes: () => ({ required: sample.requires ?? [], optional: sample.wishes ?? [] }),
      produces: () => (sample.produces ?? []).map((key) => ({ ...key, producer: name })),
    }
  },
})

/** Enough types for the built-in default configuration. */
export const SAMPLE_TYPES: readonly PluginType[] = [
  sampleType({ type: 'queue-scorer', kinds: ['scorer'], requires: [WAITING_QUEUE_SIZE] }),
  sampleType({ type: 'kv-cache-utilization-scorer', kinds: ['scorer'], requires: [KV_CACHE_USAGE] }),
  sampleType({ type: 'prefix-cache-scorer', kinds: ['scorer'], requires: [PREFIX_CACHE_MATCH_INFO], parameters: true }),
  sampleType({ type: 'decode-filter', kinds: ['filter'] }),
  sampleType({ type: 'max-score-picker', kinds: ['picker'] }),
  sampleType({ type: 'random-picker', kinds: ['picker'] }),
  sampleType({ type: 'single-profile-handler', kinds: ['profile-handler'] }),
  sampleType({ type: 'pair-handler', kinds: ['profile-handler'], references: ['deciders.prefill', 'deciders.encode'] }),
  sampleType({ type: 'always-decider', kinds: ['decider'] }),
  sampleType({ type: 'approx-prefix-cache-producer', kinds: ['producer'], requires: [TOKENIZED_PROMPT], produces: [PREFIX_CACHE_MATCH_INFO] }),
  sampleType({ type: 'token-producer', kinds: ['producer'], produces: [TOKENIZED_PROMPT] }),
  sampleType({ type: 'metrics-data-source', kinds: ['source'] }),
  sampleType({ type: 'core-metrics-extractor', kinds: ['extractor'], produces: [KV_CACHE_USAGE, WAITING_QUEUE_SIZE] }),
  sampleType({ type: 'utilization-detector', kinds: ['detector', 'filter'] }),
  ...['openai', 'anthropic', 'vllmhttp', 'passthrough'].map((name) => sampleType({ type: `${name}-parser`, kinds: ['parser'] })),
]
