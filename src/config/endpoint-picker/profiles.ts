import type { ConfiguredProfile } from '../../core/configuration.ts'
import { isFilter, isPicker, isProfileHandler, isScorer } from '../../core/roles.ts'
import type { Problems } from '../problems.ts'
import type { ProfileDocument, ProfileEntry } from './document.ts'
import type { PluginSet } from './plugin-set.ts'

const DEFAULT_WEIGHT = 1

/** Each entry joins its profile in every role that it bears; one that is no filter, scorer or picker has no effect. (llm-d: build profiles) */
export const buildProfiles = (profiles: readonly ProfileDocument[], set: PluginSet, problems: Problems): readonly ConfiguredProfile[] =>
  profiles.map((profile) => buildProfile(profile, set, problems))

const buildProfile = (profile: ProfileDocument, set: PluginSet, problems: Problems): ConfiguredProfile => {
  const filters: string[] = []
  const scorers: { plugin: string; weight: number }[] = []
  let picker: string | undefined
  for (const entry of profile.entries) {
    const plugin = set.get(entry.name)?.plugin
    if (plugin === undefined) continue
    if (isFilter(plugin)) filters.push(entry.name)
    if (isScorer(plugin)) scorers.push({ plugin: entry.name, weight: entry.weight ?? DEFAULT_WEIGHT })
    else if (entry.weight !== undefined) problems.warn(`the weight of \`${entry.name}\` has no effect: it is no scorer`, entry.weightPlace)
    if (!isPicker(plugin)) continue
    if (picker !== undefined) problems.error('config-invalid', `\`${entry.name}\` is a second picker in the profile \`${profile.name}\`, besides \`${picker}\``, entry.place)
    picker ??= entry.name
  }
  return { name: profile.name, filters, scorers, picker: picker ?? '' }
}

/**
 * Tells each entry that a handler which chooses all endpoints itself would never ask: a scorer is an error, since whoever
 * wrote it means it to count; a picker is only a habit.
 */
export const checkJointProfiles = (profiles: readonly ProfileDocument[], set: PluginSet, problems: Problems): void => {
  const handler = set.all.find(({ plugin }) => isProfileHandler(plugin) && plugin.choose !== undefined)
  if (handler === undefined) return
  const why = `\`${handler.entry.name}\` chooses the endpoints of all stages together and asks filters only`
  for (const profile of profiles) {
    for (const { name, place } of profile.entries) {
      const plugin = set.get(name)?.plugin
      // Without a place it was injected.
      if (plugin === undefined || place === undefined || isFilter(plugin)) continue
      if (isScorer(plugin)) problems.error('config-invalid', `the scorer \`${name}\` has no effect in the profile \`${profile.name}\`: ${why}; take it out, and name a policy in the handler's parameters`, place)
      else if (isPicker(plugin)) problems.warn(`the picker \`${name}\` has no effect in the profile \`${profile.name}\`: ${why}`, place)
    }
  }
}

/** Tells each entry that names a plugin which is not there. */
export const checkProfileReferences = (profiles: readonly ProfileDocument[], set: PluginSet, problems: Problems): void => {
  for (const profile of profiles) {
    for (const entry of profile.entries) {
      if (!set.has(entry.name)) problems.error('config-unknown-reference', `unknown ${wordFor(entry)} \`${entry.name}\`${set.hint(entry.name)}`, entry.place)
    }
  }
}

/** Only scorers have weights, and most plugins are called by what they are. */
const wordFor = (entry: ProfileEntry): string => {
  const named = ['scorer', 'filter', 'picker'].find((kind) => entry.name.endsWith(`-${kind}`))
  return entry.weight === undefined ? (named ?? 'plugin') : 'scorer'
}
