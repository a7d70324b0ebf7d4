import { isFilter, isPicker, isProfileHandler, isScorer } from '../../core/roles.ts'
import type { Problems } from '../problems.ts'
import type { DataSource, EndpointPickerDocument, ProfileDocument } from './document.ts'
import type { PluginSet } from './plugin-set.ts'
import type { Reference } from './reference.ts'

const SINGLE_PROFILE_HANDLER = 'single-profile-handler'
/** With more profiles than one these could serve no request. llm-d refuses the first at its start and fails each request of the second. */
const ONE_PROFILE_HANDLERS = [SINGLE_PROFILE_HANDLER, 'data-parallel-profile-handler']
const MAX_SCORE_PICKER = 'max-score-picker'
const FLOW_CONTROL_POLICIES = ['fcfs-ordering-policy', 'global-strict-fairness-policy', 'static-usage-limit-policy']
const PARSERS = ['openai-parser', 'anthropic-parser', 'vllmhttp-parser', 'passthrough-parser']
const UTILIZATION_DETECTOR = 'utilization-detector'
const METRICS_DATA_SOURCE = 'metrics-data-source'
const CORE_METRICS_EXTRACTOR = 'core-metrics-extractor'

/** The document with all that the loader adds; what was added, in words, for whoever reads the result. */
export interface Injected {
  readonly profiles: readonly ProfileDocument[]
  readonly parsers: readonly Reference[]
  readonly sources: readonly DataSource[]
  readonly saturationDetector: Reference
  readonly notes: {
    readonly profiles: string | undefined
    /** The profiles to which a picker was added. */
    readonly pickers: ReadonlySet<string>
    readonly parsers: boolean
    readonly sources: ReadonlySet<string>
    readonly saturationDetector: boolean
  }
}

/**
 * Adds what a short configuration leaves out, in llm-d's order: profiles, handler, pickers, policies, parsers, detector, data
 * layer. Where llm-d goes by the order of a map, the order of the file counts. (llm-d: system defaults)
 */
export const injectDefaults = (document: EndpointPickerDocument, set: PluginSet, problems: Problems): Injected => {
  const profiles = document.profiles.length > 0 ? document.profiles : [defaultProfile(set)]
  injectHandler(profiles, set, problems)
  const pickers = injectPickers(profiles, set)
  // Without effect while flow control is off, so their absence is no error.
  for (const policy of FLOW_CONTROL_POLICIES) if (set.isBuilt(policy)) set.inject(policy, 'flow control policies are always there')
  const parsers = document.parsers.length > 0 ? document.parsers : PARSERS.map((name) => ({ name }))
  for (const { name } of parsers) if (!set.has(name) && set.isKnown(name)) set.inject(name, 'used as a parser')
  const saturationDetector = document.saturationDetector ?? { name: UTILIZATION_DETECTOR }
  if (saturationDetector.name === UTILIZATION_DETECTOR) set.inject(UTILIZATION_DETECTOR, 'no other saturation detector')
  const sources = withMetrics(document, set)
  return {
    profiles: pickers.profiles,
    parsers,
    sources,
    saturationDetector,
    notes: {
      profiles: document.profiles.length > 0 ? undefined : 'no profile was configured: every filter, scorer and picker is in this one',
      pickers: pickers.added,
      parsers: document.parsers.length === 0,
      sources: new Set(sources.slice(document.sources.length).map(({ source }) => source.name)),
      saturationDetector: document.saturationDetector === undefined,
    },
  }
}

const defaultProfile = (set: PluginSet): ProfileDocument => ({
  name: 'default',
  entries: set.all.filter(({ plugin }) => isFilter(plugin) || isScorer(plugin) || isPicker(plugin)).map(({ entry }) => ({ name: entry.name, weight: undefined })),
})

const injectHandler = (profiles: readonly ProfileDocument[], set: PluginSet, problems: Problems): void => {
  const handlers = set.all.filter(({ plugin }) => isProfileHandler(plugin))
  if (handlers.length === 0 && profiles.length === 1) set.inject(SINGLE_PROFILE_HANDLER, 'one profile and no profile handler')
  else if (handlers.length === 0) problems.error('config-invalid', `no profile handler, and ${String(profiles.length)} profiles: add one such as \`disagg-profile-handler\` to plugins`, profiles[1]?.place)
  for (const { entry } of handlers.slice(1)) {
    problems.error('config-invalid', `\`${entry.name}\` is a second profile handler, besides \`${handlers[0]?.entry.name ?? ''}\`: there must be exactly one`, entry.cursor?.place)
  }
  const single = handlers.find(({ entry }) => ONE_PROFILE_HANDLERS.includes(entry.type))
  if (single !== undefined && profiles.length > 1) {
    problems.error('config-invalid', `\`${single.entry.name}\` takes one profile, there are ${String(profiles.length)}: ${profiles.map(({ name }) => `\`${name}\``).join(', ')}`, single.entry.cursor?.place)
  }
}

const injectPickers = (profiles: readonly ProfileDocument[], set: PluginSet): { profiles: readonly ProfileDocument[]; added: ReadonlySet<string> } => {
  const isPickerName = (name: string): boolean => {
    const made = set.get(name)
    return made !== undefined && isPicker(made.plugin)
  }
  const picker = set.all.find(({ plugin }) => isPicker(plugin)) ?? set.inject(MAX_SCORE_PICKER, 'no picker')
  const added = new Set<string>()
  const withPickers = profiles.map((profile) => {
    if (picker === undefined || profile.entries.some(({ name }) => isPickerName(name))) return profile
    added.add(profile.name)
    return { ...profile, entries: [...profile.entries, { name: picker.entry.name, weight: undefined }] }
  })
  return { profiles: withPickers, added }
}

const withMetrics = (document: EndpointPickerDocument, set: PluginSet): readonly DataSource[] => {
  const { sources } = document
  if (!document.injectDefaults || sources.some(({ source }) => source.name === METRICS_DATA_SOURCE)) return sources
  set.inject(METRICS_DATA_SOURCE, 'no metrics source')
  set.inject(CORE_METRICS_EXTRACTOR, 'no metrics source')
  return [...sources, { source: { name: METRICS_DATA_SOURCE }, extractors: [{ name: CORE_METRICS_EXTRACTOR }] }]
}
