import { SignalboxError } from '../core/errors.ts'
import { KNOWN_TYPES, pluginTypes } from '../plugins/index.ts'
import { loadConfiguration } from './load.ts'
import type { LoadedConfiguration } from './load.ts'
import { AggregateConfigurationError, warningText } from './problems.ts'
import { importPluginTypes, readConfigurationFiles } from './read.ts'
import { completedYaml } from './report/completed-yaml.ts'
import { graphText } from './report/graph-text.ts'

export interface CheckRequest {
  /** None checks the built-in default. */
  readonly files: readonly string[]
  /** Modules of the user's own that export `pluginTypes`. */
  readonly plugins: readonly string[]
  readonly allowExperimental: boolean
  readonly json: boolean
}

/** What to print, and the exit code: 0 right, 1 the configuration is wrong, 2 it could not be read. */
export interface CheckResult {
  readonly exitCode: 0 | 1 | 2
  readonly output: string
  readonly diagnostics: string
}

/** Loads configuration files and shows what they amount to: the completed configuration and the plugin graph. */
export const checkConfiguration = async (request: CheckRequest): Promise<CheckResult> => {
  try {
    const own = await importPluginTypes(request.plugins)
    const loaded = loadConfiguration({
      texts: readConfigurationFiles(request.files),
      pluginTypes: [...pluginTypes, ...own],
      knownTypes: KNOWN_TYPES,
      environment: process.env,
      allowExperimental: request.allowExperimental,
    })
    const warnings = loaded.warnings.map((warning) => `warning: ${warningText(warning)}\n`).join('')
    return request.json ? { exitCode: 0, output: asJson(loadedJson(loaded)), diagnostics: '' } : { exitCode: 0, output: asText(loaded), diagnostics: warnings }
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error
    const exitCode = error instanceof AggregateConfigurationError ? 1 : 2
    return request.json ? { exitCode, output: asJson({ errors: errorsJson(error) }), diagnostics: '' } : { exitCode, output: '', diagnostics: `${error.toString()}\n` }
  }
}

const asJson = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

/** The graph stands in comments, so that the whole text is a configuration again. */
const asText = (loaded: LoadedConfiguration): string => `${completedYaml(loaded)}\n${graphText(loaded).replace(/^/gm, '# ')}\n`

const loadedJson = ({ completed, settings, graph, warnings, injections }: LoadedConfiguration): unknown => ({
  completed,
  settings,
  graph,
  injections: Object.fromEntries(injections),
  warnings,
})

const errorsJson = (error: SignalboxError): unknown => {
  const errors = error instanceof AggregateConfigurationError ? error.errors : [error]
  return errors.map(({ code, message, place, fix }) => ({ code, message, place, fix }))
}
