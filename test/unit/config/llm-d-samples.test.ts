import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadConfiguration } from '../../../src/config/load.ts'
import type { LoadedConfiguration } from '../../../src/config/load.ts'
import { AggregateConfigurationError } from '../../../src/config/problems.ts'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import type { SignalboxError } from '../../../src/core/errors.ts'
import { KNOWN_TYPES, pluginTypes } from '../../../src/plugins/index.ts'
import { joined, received } from '../../story/inputs.ts'
import { target, World } from '../../story/world.ts'

const FOLDER = join(import.meta.dirname, '../../data/configs')

interface Sample {
  /** Added beyond what is always added. */
  readonly added: readonly string[]
  /** "filters | scorer weight, ... | picker" of each profile. */
  readonly profiles: Readonly<Record<string, string>>
  readonly parsers?: readonly string[]
  readonly producers?: readonly string[]
  /** Found wrong with it beyond types that are not built. */
  readonly refusedFor?: string
}

const PREFIX = ['approx-prefix-cache-producer', 'token-producer']
const PAIR = {
  prefill: 'prefill-filter | prefix-cache-scorer 2, queue-scorer 1 | max-score-picker',
  decode: 'decode-filter | prefix-cache-scorer 2, queue-scorer 1 | max-score-picker',
}
const FOUR_SCORERS = ' | queue-scorer 1, kv-cache-utilization-scorer 1, prefix-cache-scorer 1, lora-affinity-scorer 1 | max-score-picker'

/** The configurations that llm-d ships, and what its loader makes of them. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  'deploy/dp-epp-config.yaml': { added: PREFIX, profiles: { default: 'decode-filter | prefix-cache-scorer 2 | max-score-picker' } },
  'deploy/epp-burst-prefix-cache-config.yaml': { added: [], profiles: { default: 'decode-filter | prefix-cache-scorer 2, load-aware-scorer 1 | max-score-picker' } },
  'deploy/epp-config.yaml': { added: PREFIX, profiles: { default: 'decode-filter | prefix-cache-scorer 2 | max-score-picker' }, producers: ['token-producer', 'approx-prefix-cache-producer'] },
  'deploy/epp-estimate-prefix-cache-config.yaml': { added: PREFIX, profiles: { default: 'decode-filter | prefix-cache-scorer 1, load-aware-scorer 1 | max-score-picker' } },
  'deploy/epp-mm-embeddings-cache-config.yaml': { added: [], profiles: {}, refusedFor: 'cacheSizeInMB' },
  'deploy/epp-precise-prefix-cache-config.yaml': { added: [], profiles: { default: 'decode-filter | prefix-cache-scorer 2, kv-cache-utilization-scorer 1, queue-scorer 1 | max-score-picker' } },
  'deploy/pd-epp-config.yaml': { added: ['token-producer'], profiles: PAIR, producers: ['token-producer', 'approx-prefix-cache-producer'] },
  'deploy/pd-topology-epp-config.yaml': {
    added: ['token-producer'],
    profiles: { ...PAIR, prefill: 'prefill-filter, topology-affinity-filter | prefix-cache-scorer 2, queue-scorer 1, topology-affinity-scorer 1 | max-score-picker' },
  },
  'deploy/probabilistic-admitter-epp-config.yaml': { added: ['single-profile-handler'], profiles: { default: ' |  | random-picker' } },
  'deploy/sim-e-p-d-epp-config.yaml': {
    added: ['max-score-picker', ...PREFIX],
    profiles: { encode: 'encode-filter |  | max-score-picker', prefill: 'prefill-filter | queue-scorer 1 | max-score-picker', decode: 'decode-filter | queue-scorer 1 | max-score-picker' },
  },
  'deploy/sim-e-pd-epp-config.yaml': { added: PREFIX, profiles: { encode: 'encode-filter |  | max-score-picker', decode: 'decode-filter |  | max-score-picker' } },
  'deploy/sim-epp-config.yaml': { added: ['token-producer'], profiles: { default: 'decode-filter | prefix-cache-scorer 2 | max-score-picker' } },
  'deploy/sim-epp-gpu-config.yaml': { added: [], profiles: { default: 'decode-filter, gpu-utilization-filter | gpu-utilization-scorer 2, kv-cache-utilization-scorer 1 | max-score-picker' } },
  'deploy/sim-epp-kvcache-config.yaml': { added: [], profiles: { default: 'decode-filter | prefix-cache-scorer 10 | max-score-picker' } },
  'deploy/sim-epp-no-hit-lru.yaml': { added: PREFIX, profiles: { default: 'decode-filter | prefix-cache-scorer 2, no-hit-lru-scorer 1 | max-score-picker' } },
  'deploy/sim-epp-tokenizer-vllm-http-config.yaml': { added: [], profiles: { default: 'decode-filter | prefix-cache-scorer 10 | max-score-picker' } },
  'deploy/sim-pd-epp-config.yaml': { added: ['token-producer'], profiles: PAIR },
  'deploy/sim-program-aware-config.yaml': { added: [], profiles: {}, refusedFor: 'flow control' },
  'deploy/soft-reflective-ceiling-epp-config.yaml': { added: [], profiles: {}, refusedFor: 'flow control' },
  'chart/default-plugins.yaml': {
    added: ['single-profile-handler', 'max-score-picker', ...PREFIX],
    profiles: { default: ' | queue-scorer 2, kv-cache-utilization-scorer 2, prefix-cache-scorer 3 | max-score-picker' },
  },
  'chart/default-plugins-predictor.yaml': {
    added: ['single-profile-handler', ...PREFIX, 'inflight-load-producer'],
    profiles: { default: 'strict-affinity-filter, slo-headroom-tier-filter, loose-affinity-filter | latency-scorer 1 | weighted-random-picker' },
  },
  'chart/payload-agnostic.yaml': {
    added: ['single-profile-handler', 'max-score-picker', 'inflight-load-producer', 'token-producer'],
    profiles: { default: ' | active-request-scorer 1, session-affinity-scorer 1 | max-score-picker' },
    parsers: ['passthrough-parser'],
  },
  'perf/optimized-baseline.yaml': {
    added: ['single-profile-handler', 'max-score-picker', 'token-producer'],
    profiles: { default: ' | queue-scorer 2, kv-cache-utilization-scorer 2, prefix-cache-scorer 3, no-hit-lru-scorer 2 | max-score-picker' },
  },
  'perf/precise-prefix.yaml': {
    added: ['single-profile-handler', 'max-score-picker', 'inflight-load-producer'],
    profiles: { default: ' | active-request-scorer 4, kv-cache-utilization-scorer 2, prefix-cache-scorer 2, no-hit-lru-scorer 2 | max-score-picker' },
  },
  'perf/random-only-default-parsers.yaml': { added: ['single-profile-handler'], profiles: { default: ' |  | random-picker' }, producers: [] },
  'perf/random-passthrough-parser.yaml': { added: ['single-profile-handler'], profiles: { default: ' |  | random-picker' }, parsers: ['passthrough-parser'] },
  'integration/default-config.yaml': { added: ['single-profile-handler', 'max-score-picker', ...PREFIX], profiles: { default: FOUR_SCORERS }, parsers: ['openai-parser'] },
  // The source of the next two is one of llm-d's tests, no type of its own.
  'integration/datalayer-config.yaml': { added: [], profiles: {}, refusedFor: 'mock-metrics-source' },
  'integration/request-attribute-reporter-config.yaml': { added: [], profiles: {}, refusedFor: 'mock-metrics-source' },
}

const ALWAYS = ['openai-parser', 'anthropic-parser', 'vllmhttp-parser', 'passthrough-parser', 'utilization-detector', 'fcfs-ordering-policy', 'global-strict-fairness-policy', 'static-usage-limit-policy', 'metrics-data-source', 'core-metrics-extractor']
const BUILT = new Set(pluginTypes.map(({ type }) => type))

const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')
const writtenTypes = (file: string): readonly string[] => (parse(textOf(file)) as { plugins: { type: string }[] }).plugins.map(({ type }) => type)

const tryLoad = (file: string): LoadedConfiguration | readonly SignalboxError[] => {
  try {
    return loadConfiguration({ texts: [{ file, text: textOf(file) }], pluginTypes, knownTypes: KNOWN_TYPES, allowExperimental: true })
  } catch (error) {
    if (error instanceof AggregateConfigurationError) return error.errors
    throw error
  }
}

const profileText = ({ filters, scorers, picker }: LoadedConfiguration['completed']['profiles'][number]): string =>
  `${filters.join(', ')} | ${scorers.map(({ plugin, weight }) => `${plugin} ${String(weight)}`).join(', ')} | ${picker}`

describe('llm-d\'s sample', () => {
  it('files are all here', () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'))
    expect(files.map((file) => file.replaceAll('\\', '/')).sort()).toEqual(Object.keys(SAMPLES).sort())
  })

  it.each(Object.entries(SAMPLES))('%s loads with what llm-d adds, or names what is not built', (file, sample) => {
    const loaded = tryLoad(file)
    const unbuilt = writtenTypes(file).filter((type) => !BUILT.has(type) && KNOWN_TYPES.includes(type))
    if ('completed' in loaded) {
      expect(unbuilt).toEqual([])
      expect(sample.refusedFor).toBeUndefined()
      const { completed } = loaded
      const written = new Set(writtenTypes(file))
      const parsers = sample.parsers ?? ALWAYS.filter((name) => name.endsWith('-parser'))
      const always = ALWAYS.filter((name) => !written.has(name) && (!name.endsWith('-parser') || parsers.includes(name)))
      expect(completed.plugins.filter(({ injected }) => injected === true).map(({ name }) => name).sort()).toEqual([...always, ...sample.added].sort())
      expect(Object.fromEntries(completed.profiles.map((profile) => [profile.name, profileText(profile)]))).toEqual(sample.profiles)
      expect(completed.parsers).toEqual(parsers)
      if (sample.producers !== undefined) expect(completed.producers).toEqual(sample.producers)
      return
    }
    const notBuilt = loaded.filter(({ message }) => message.startsWith('plugin type') && message.endsWith('is known from llm-d but not built'))
    expect(notBuilt.map(({ message }) => message)).toEqual(unbuilt.map((type) => `plugin type \`${type}\` is known from llm-d but not built`))
    for (const { code, place } of notBuilt) expect({ code, place }).toMatchObject({ code: 'config-plugin-not-built', place: { file, column: 11 } })
    const others = loaded.filter((error) => !notBuilt.includes(error))
    if (sample.refusedFor === undefined) expect(others.map(({ message }) => message)).toEqual([])
    const told = others.some(({ message }) => sample.refusedFor !== undefined && message.includes(sample.refusedFor))
    expect(unbuilt.length > 0 || told).toBe(true)
  })

  it.each([
    'deploy/dp-epp-config.yaml', 'deploy/epp-config.yaml', 'deploy/epp-estimate-prefix-cache-config.yaml', 'deploy/pd-epp-config.yaml', 'deploy/sim-e-p-d-epp-config.yaml',
    'deploy/sim-e-pd-epp-config.yaml', 'deploy/sim-epp-config.yaml', 'deploy/sim-pd-epp-config.yaml', 'chart/default-plugins.yaml', 'perf/random-only-default-parsers.yaml',
    'perf/random-passthrough-parser.yaml',
  ])('%s is enough to build an engine that routes', (file) => {
    const loaded = tryLoad(file)
    if (!('completed' in loaded)) throw new Error(loaded.map(String).join('\n'))
    const world = new World(JSON.parse(JSON.stringify(loaded.completed)) as CompletedConfiguration).take(joined('d', 'decode'))
    expect(target(world.request(received('r')).decision)).toBe('d')
  })

  it.each(['deploy/sim-program-aware-config.yaml', 'deploy/soft-reflective-ceiling-epp-config.yaml'])('%s asks for flow control and is told that it is not built', (file) => {
    expect(tryLoad(file)).toContainEqual(expect.objectContaining({ code: 'config-not-built' }))
  })

  it('datalayer-config.yaml names a source of llm-d\'s own tests, which is unknown', () => {
    expect(tryLoad('integration/datalayer-config.yaml')).toContainEqual(expect.objectContaining({ code: 'config-unknown-plugin', message: 'unknown plugin type `mock-metrics-source`' }))
  })

  it('pd-epp-config.yaml names its decider before it stands in the file', () => {
    const loaded = tryLoad('deploy/pd-epp-config.yaml')
    if (!('completed' in loaded)) throw new Error('does not load')
    const names = loaded.completed.plugins.map(({ name }) => name)
    expect(names.indexOf('prefix-based-pd-decider')).toBeLessThan(names.indexOf('disagg-profile-handler'))
    expect(loaded.completed.profileHandler).toBe('disagg-profile-handler')
    expect(loaded.warnings).toEqual([])
  })
})
