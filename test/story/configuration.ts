import { DEFAULT_ENGINE_SETTINGS } from '../../src/core/configuration.ts'
import type { CompletedConfiguration, ConfiguredPlugin, EngineSettings } from '../../src/core/configuration.ts'

const plugins = (...types: readonly (string | ConfiguredPlugin)[]): ConfiguredPlugin[] =>
  types.map((type) => (typeof type === 'string' ? { name: type, type } : type))

const flowControl = {}
const dataLayer = { sources: [] }
const common = ['utilization-detector', 'token-producer', 'approx-prefix-cache-producer'] as const

/** llm-d's default: one profile, queue 2, kv 2, prefix 3. */
export const singleProfile = (settings: Partial<EngineSettings> = {}): CompletedConfiguration => ({
  featureGates: {},
  plugins: plugins('queue-scorer', 'kv-cache-utilization-scorer', 'prefix-cache-scorer', 'max-score-picker', 'single-profile-handler', 'inflight-load-producer', ...common),
  profiles: [
    {
      name: 'default',
      filters: [],
      scorers: [
        { plugin: 'queue-scorer', weight: 2 },
        { plugin: 'kv-cache-utilization-scorer', weight: 2 },
        { plugin: 'prefix-cache-scorer', weight: 3 },
      ],
      picker: 'max-score-picker',
    },
  ],
  dataLayer,
  parsers: [],
  saturationDetector: 'utilization-detector',
  producers: ['token-producer', 'approx-prefix-cache-producer', 'inflight-load-producer'],
  profileHandler: 'single-profile-handler',
  flowControl,
  engine: { ...DEFAULT_ENGINE_SETTINGS, ...settings },
})

/** llm-d's pd-epp-config with an encode stage. */
export const disaggregated = (nonCachedTokens = 16, settings: Partial<EngineSettings> = {}): CompletedConfiguration => {
  const scorers = [
    { plugin: 'prefix-cache-scorer', weight: 2 },
    { plugin: 'queue-scorer', weight: 1 },
  ]
  return {
    featureGates: {},
    plugins: plugins(
      'queue-scorer', 'prefix-cache-scorer', 'max-score-picker', 'decode-filter', 'prefill-filter', 'encode-filter',
      { name: 'prefix-based-pd-decider', type: 'prefix-based-pd-decider', parameters: { nonCachedTokens } },
      'always-disagg-multimodal-decider',
      {
        name: 'disagg-profile-handler',
        type: 'disagg-profile-handler',
        parameters: { deciders: { prefill: 'prefix-based-pd-decider', encode: 'always-disagg-multimodal-decider' } },
      },
      'inflight-load-producer', ...common,
    ),
    profiles: [
      { name: 'prefill', filters: ['prefill-filter'], scorers, picker: 'max-score-picker' },
      { name: 'decode', filters: ['decode-filter'], scorers, picker: 'max-score-picker' },
      { name: 'encode', filters: ['encode-filter'], scorers: [], picker: 'max-score-picker' },
    ],
    dataLayer,
    parsers: [],
    saturationDetector: 'utilization-detector',
    producers: ['token-producer', 'approx-prefix-cache-producer', 'inflight-load-producer'],
    profileHandler: 'disagg-profile-handler',
    flowControl,
    engine: { ...DEFAULT_ENGINE_SETTINGS, ...settings },
  }
}
