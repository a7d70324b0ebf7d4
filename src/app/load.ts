import { loadConfiguration } from '../config/load.ts'
import type { LoadedConfiguration } from '../config/load.ts'
import { importPluginTypes, readConfigurationFiles } from '../config/read.ts'
import { KNOWN_TYPES, pluginTypes } from '../plugins/index.ts'
import type { PluginType } from '../core/contract.ts'
import { withEndpointsFile } from './endpoints-option.ts'

export interface Sources {
  readonly files: readonly string[]
  /** Settings given as flags, by name. */
  readonly flags: ReadonlyMap<string, string>
  readonly pluginModules: readonly string[]
  readonly allowExperimental: boolean
  readonly endpoints: string | undefined
}

export interface Loaded extends LoadedConfiguration {
  readonly userTypes: readonly PluginType[]
  readonly pluginModules: readonly string[]
}

/** Reads and completes the configuration that flags and files give. Throws AggregateConfigurationError or SignalboxError. */
export const load = async ({ files, flags, pluginModules, allowExperimental, endpoints }: Sources): Promise<Loaded> => {
  const userTypes = await importPluginTypes(pluginModules)
  const loaded = loadConfiguration({ texts: readConfigurationFiles(files), flags, pluginTypes: [...pluginTypes, ...userTypes], knownTypes: KNOWN_TYPES, environment: process.env, allowExperimental })
  const completed = endpoints === undefined ? loaded.completed : withEndpointsFile(loaded.completed, endpoints)
  return { ...loaded, completed, userTypes, pluginModules }
}
