import type { CompletedConfiguration, ConfiguredProfile } from '../core/configuration.ts'
import type { Decider, Filter, Picker, Plugin, PluginType, Scorer } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { SignalboxError } from '../core/errors.ts'
import type { Profile } from '../scheduling/profile.ts'
import {
  isAdmissionController, isAdmitter, isDecider, isDetector, isEndpointEvents, isKvEvents, isMetricsEvents, isPreRequest, isProducer, isProfileHandler, isReporter, isResponseBody,
  isResponseHeader, isScreener, isStageEvents, takesPeerLoads,
} from '../core/roles.ts'
import { setUp } from './pipeline.ts'
import type { Pipeline, SharedServices } from './pipeline.ts'

/** Every type the engine can make, by name. */
export type PluginTypes = ReadonlyMap<string, PluginType>

/** Told of each answer that a decider gives to the profile handler. */
export type DeciderNote = (decider: Decider, endpoint: Endpoint | undefined, runs: boolean) => void

/**
 * Makes the plugins of a completed configuration and wires them. The same configuration gives the same pipeline.
 * @throws SignalboxError where the configuration names what is not there; a configuration from the loader never does
 */
export const assemble = (configuration: CompletedConfiguration, types: PluginTypes, shared: SharedServices, note: DeciderNote, extra: (plugin: (name: string) => Plugin | undefined) => readonly Plugin[]): Pipeline => {
  const made = make(configuration, types, note)
  const plugins = [...made.values(), ...extra((name) => made.get(name))]
  const columns = setUp(plugins, shared)
  const find = <P extends Plugin>(name: string, is: (plugin: Plugin) => plugin is P, role: string): P => {
    const plugin = made.get(name)
    if (plugin === undefined || !is(plugin)) throw new SignalboxError('config-unknown-reference', `\`${name}\` is not a ${role} of this configuration`)
    return plugin
  }
  const profiles = new Map(configuration.profiles.map((profile) => [profile.name, profileOf(profile, made)]))
  return {
    plugins,
    profiles,
    profileNames: [...profiles.keys()],
    handler: find(configuration.profileHandler, isProfileHandler, 'profile handler'),
    detector: find(configuration.saturationDetector, isDetector, 'saturation detector'),
    admissionControllers: plugins.filter(isAdmissionController),
    admitters: plugins.filter(isAdmitter),
    screeners: plugins.filter(isScreener),
    producers: configuration.producers.map((name) => find(name, isProducer, 'producer')),
    preRequests: plugins.filter(isPreRequest),
    responseBodies: plugins.filter(isResponseBody),
    responseHeaders: plugins.filter(isResponseHeader),
    reporters: plugins.filter(isReporter),
    endpointEvents: plugins.filter(isEndpointEvents),
    stageEvents: plugins.filter(isStageEvents),
    metricsEvents: plugins.filter(isMetricsEvents),
    kvEvents: plugins.filter(isKvEvents),
    peerLoads: plugins.filter(takesPeerLoads),
    deciders: plugins.filter(isDecider),
    columns,
  }
}

const make = (configuration: CompletedConfiguration, types: PluginTypes, note: DeciderNote): Map<string, Plugin> => {
  const made = new Map<string, Plugin>()
  for (const { name, type, parameters } of configuration.plugins) {
    const pluginType = types.get(type)
    if (pluginType === undefined) throw new SignalboxError('config-unknown-plugin', `no plugin type \`${type}\` (plugin \`${name}\`)`)
    made.set(name, pluginType.create({ name, parameters, plugin: (other) => noted(made.get(other), note), warn: () => undefined }))
  }
  return made
}

const profileOf = (profile: ConfiguredProfile, made: ReadonlyMap<string, Plugin>): Profile => {
  const find = (name: string, method: 'filter' | 'score' | 'pick'): Plugin => {
    const plugin = made.get(name)
    if (plugin === undefined || !(method in plugin)) throw new SignalboxError('config-unknown-reference', `profile \`${profile.name}\`: \`${name}\` cannot ${method}`)
    return plugin
  }
  return {
    name: profile.name,
    filters: profile.filters.map((name) => find(name, 'filter') as Filter),
    scorers: profile.scorers.map(({ plugin, weight }) => ({ scorer: find(plugin, 'score') as Scorer, weight })),
    picker: find(profile.picker, 'pick') as Picker,
  }
}

/** A decider as a handler gets it: its answers are noted, for the receipt. */
const noted = (plugin: Plugin | undefined, note: DeciderNote): Plugin | undefined => {
  if (plugin === undefined || !isDecider(plugin)) return plugin
  const recording: Decider = {
    typedName: plugin.typedName,
    runs: (request, endpoint) => {
      const runs = plugin.runs(request, endpoint)
      note(plugin, endpoint, runs)
      return runs
    },
  }
  return recording
}
