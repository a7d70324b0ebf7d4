import { aibrixSettings, completeAibrix } from './aibrix/completion.ts'
import type { CompletedConfiguration } from '../core/configuration.ts'
import type { PluginType } from '../core/contract.ts'
import { didYouMean } from '../core/nearest.ts'
import { completeEndpointPicker } from './endpoint-picker/complete.ts'
import type { Completion, PluginGraph } from './endpoint-picker/complete.ts'
import { DEFAULT_CONFIGURATION, DEFAULT_FILE } from './endpoint-picker/default-configuration.ts'
import { ENDPOINT_PICKER_KIND, readEndpointPicker } from './endpoint-picker/document.ts'
import { Problems } from './problems.ts'
import type { Warning } from './problems.ts'
import { engineSettings, readSettings, SIGNALBOX_KIND } from './signalbox/document.ts'
import type { SignalboxSettings } from './signalbox/settings.ts'
import { Cursor } from './yaml/cursor.ts'
import { parseDocuments } from './yaml/document.ts'

/** The text of one configuration file; several documents may stand in one. */
export interface ConfigurationText {
  readonly file: string
  readonly text: string
}

export interface ConfigurationInput {
  /** With no EndpointPickerConfig among them the built-in default is taken. */
  readonly texts: readonly ConfigurationText[]
  readonly pluginTypes: readonly PluginType[]
  /** Types known from llm-d that are not built: naming one is told apart from a mistyped one. */
  readonly knownTypes?: Iterable<string>
  /** Settings given as flags, by name without dashes; they win over the texts. */
  readonly flags?: ReadonlyMap<string, string>
  /** Environment variables that are defaults of parameters; none when absent. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Allows plugin types that are alpha. */
  readonly allowExperimental?: boolean
}

export interface LoadedConfiguration {
  /** All that the engine is built from. */
  readonly completed: CompletedConfiguration
  readonly settings: SignalboxSettings
  readonly warnings: readonly Warning[]
  readonly graph: PluginGraph
  /** What injection added, in words. */
  readonly notes: Completion['notes']
  /** Why each injected plugin was added, by name. */
  readonly injections: ReadonlyMap<string, string>
}

/**
 * Reads, checks and completes a configuration. Pure over its input: the same texts give the same result.
 * Throws AggregateConfigurationError with every independent error and its place.
 */
export const loadConfiguration = (input: ConfigurationInput): LoadedConfiguration => {
  const problems = new Problems()
  const documents = findDocuments(input.texts, problems)
  const settings = readSettings(documents.signalbox, input.flags ?? new Map(), problems)
  const document = readEndpointPicker(documents.endpointPicker ?? defaultDocument(problems))
  const list = {
    types: typesByName(input.pluginTypes, problems),
    known: new Set(input.knownTypes ?? []),
    allowExperimental: input.allowExperimental ?? false,
  }
  const completion = completeEndpointPicker(document, list, engineSettings(settings), problems)
  const environment = input.environment ?? {}
  const completed = completeAibrix(completion.completed, settings, environment, problems)
  const isGiven = (name: string): boolean => input.flags?.has(name) === true || documents.signalbox?.field(name).given === true
  return { ...completion, completed, settings: aibrixSettings(settings, isGiven, completed, environment, problems), warnings: problems.warnings }
}

const typesByName = (pluginTypes: readonly PluginType[], problems: Problems): ReadonlyMap<string, PluginType> => {
  const types = new Map<string, PluginType>()
  for (const type of pluginTypes) {
    if (types.has(type.type)) problems.error('config-duplicate', `there are two plugin types \`${type.type}\``)
    types.set(type.type, type)
  }
  return types
}

interface Documents {
  endpointPicker: Cursor | undefined
  signalbox: Cursor | undefined
}

const findDocuments = (texts: readonly ConfigurationText[], problems: Problems): Documents => {
  const found: Documents = { endpointPicker: undefined, signalbox: undefined }
  const take = (slot: keyof Documents, root: Cursor): void => {
    if (found[slot] !== undefined) root.field('kind').fail(`there are two documents of kind ${String(root.field('kind').value)}`, 'config-duplicate')
    found[slot] ??= root
  }
  for (const { file, text } of texts) {
    for (const document of parseDocuments(file, text, problems)) {
      const root = Cursor.of(document, problems)
      const kind = root.field('kind')
      if (kind.value === ENDPOINT_PICKER_KIND) take('endpointPicker', root)
      else if (kind.value === SIGNALBOX_KIND) take('signalbox', root)
      else if (root.object() !== undefined) tellKind(root, kind)
    }
  }
  // What cannot be read is not judged by what is missing from it.
  problems.check()
  return found
}

const tellKind = (root: Cursor, kind: Cursor): void => {
  const kinds = [ENDPOINT_PICKER_KIND, SIGNALBOX_KIND]
  if (!kind.given) root.fail(`kind is missing: write \`kind: ${ENDPOINT_PICKER_KIND}\` or \`kind: ${SIGNALBOX_KIND}\``)
  else kind.fail(`unknown kind \`${String(kind.value)}\`${didYouMean(String(kind.value), kinds)}`)
}

const defaultDocument = (problems: Problems): Cursor => {
  const [document] = parseDocuments(DEFAULT_FILE, DEFAULT_CONFIGURATION, problems)
  if (document === undefined) throw new Error('the built-in default configuration cannot be read')
  return Cursor.of(document, problems)
}
