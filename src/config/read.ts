import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PluginType } from '../core/contract.ts'
import { SignalboxError } from '../core/errors.ts'
import type { ConfigurationText } from './load.ts'

/** The text of each file. Throws SignalboxError (usage) for one that cannot be read. */
export const readConfigurationFiles = (files: readonly string[]): readonly ConfigurationText[] =>
  files.map((file) => {
    try {
      return { file, text: readFileSync(file, 'utf8') }
    } catch (error) {
      throw new SignalboxError('usage', `cannot read the configuration: ${messageOf(error)}`, { file })
    }
  })

/** The plugin types that modules of the user's own export as `pluginTypes`. Throws SignalboxError (usage) where there are none. */
export const importPluginTypes = async (modules: readonly string[]): Promise<readonly PluginType[]> => {
  const types: PluginType[] = []
  for (const file of modules) {
    const exported = await importModule(file)
    const given = exported['pluginTypes']
    if (!Array.isArray(given)) throw new SignalboxError('usage', 'the module exports no list `pluginTypes`', { file })
    for (const type of given as readonly unknown[]) {
      if (!isPluginType(type)) throw new SignalboxError('usage', '`pluginTypes` holds what is no plugin type: it needs type, kinds, stability and create()', { file })
      types.push(type)
    }
  }
  return types
}

const importModule = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw new SignalboxError('usage', `cannot load the plugins: ${messageOf(error)}`, { file })
  }
}

const isPluginType = (value: unknown): value is PluginType => {
  if (typeof value !== 'object' || value === null) return false
  const { type, kinds, stability, create } = value as Readonly<Record<string, unknown>>
  return typeof type === 'string' && type !== '' && Array.isArray(kinds) && (stability === 'alpha' || stability === 'beta') && typeof create === 'function'
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
