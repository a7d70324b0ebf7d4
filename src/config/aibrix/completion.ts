import type { CompletedConfiguration, ConfiguredPlugin } from '../../core/configuration.ts'
import { didYouMean } from '../../core/nearest.ts'
import { ParameterError } from '../../core/parameters.ts'
import { aibrixPdSettingsOf, environmentParameters, positiveInteger } from '../../plugins/profile-handler/aibrix-pd-profile-handler/index.ts'
import { CUSTOM_METRICS, ENGINE_METRICS } from '../../plugins/producer/aibrix-metrics-producer/index.ts'
import type { Problems } from '../problems.ts'
import { SETTINGS } from '../signalbox/settings.ts'
import type { SignalboxSettings } from '../signalbox/settings.ts'

const HANDLER = 'aibrix-pd-profile-handler'
const PRODUCER = 'aibrix-metrics-producer'
const EXTRACTOR = 'core-metrics-extractor'

/**
 * What AIBrix's router needs of a configuration that names it: the environment as defaults of its parameters, who runs
 * the prefill, time for it, and the metrics that its producer reads. Any other configuration stays as it is.
 */
export const completeAibrix = (completed: CompletedConfiguration, settings: SignalboxSettings, environment: Environment, problems: Problems): CompletedConfiguration => {
  const plugins = completed.plugins.map((plugin) => {
    if (plugin.type === HANDLER) return handlerWith(plugin, settings, environment, problems)
    return plugin.type === EXTRACTOR && completed.plugins.some(({ type }) => type === PRODUCER) ? extractorWith(plugin) : plugin
  })
  const handler = plugins.find(({ type }) => type === HANDLER)
  if (handler !== undefined) checkProfiles(handler, completed, problems)
  return { ...completed, plugins, engine: handler === undefined ? completed.engine : withTimeForPrefill(completed.engine, handler) }
}

/**
 * The settings, with what the environment tells the router of them: how often metrics are read, where neither file nor
 * flag says it. (AIBrix: AIBRIX_POD_METRIC_REFRESH_INTERVAL_MS)
 */
export const aibrixSettings = (settings: SignalboxSettings, isGiven: (name: string) => boolean, completed: CompletedConfiguration, environment: Environment, problems: Problems): SignalboxSettings => {
  const raw = environment[REFRESH] ?? ''
  const { name, floor = 0 } = SETTINGS.refreshMetricsIntervalMs
  if (raw === '' || isGiven(name) || !completed.plugins.some(({ type }) => type === HANDLER)) return settings
  const told = Number(positiveInteger(raw, 0n))
  if (told === 0) problems.warn(`${REFRESH}="${raw}" is not usable: the default stands`)
  else if (told < floor) problems.warn(`${REFRESH}="${raw}" is below the least, ${floor} ms, which is taken`)
  return told === 0 ? settings : { ...settings, refreshMetricsIntervalMs: Math.max(told, floor) }
}

const REFRESH = 'AIBRIX_POD_METRIC_REFRESH_INTERVAL_MS'

type Environment = Readonly<Record<string, string | undefined>>

/** A stage whose profile is not there would find no endpoint, and one that is no stage would never run. */
const checkProfiles = (handler: ConfiguredPlugin, { profiles }: CompletedConfiguration, problems: Problems): void => {
  const { profiles: stages } = aibrixPdSettingsOf(handler.parameters)
  const names = profiles.map(({ name }) => name)
  for (const [stage, profile] of Object.entries(stages)) {
    if (!names.includes(profile)) problems.error('config-unknown-reference', `\`${handler.name}\` runs the profile \`${profile}\` for ${stage}, which is not there${didYouMean(profile, names)}: add it to schedulingProfiles, or name another in parameters.profiles.${stage}`)
  }
  for (const name of names) if (name !== stages.decode && name !== stages.prefill) problems.warn(`the profile \`${name}\` has no effect: \`${handler.name}\` runs \`${stages.decode}\` and \`${stages.prefill}\``)
  problems.check()
}

const handlerWith = (plugin: ConfiguredPlugin, { pdExecution }: SignalboxSettings, environment: Environment, problems: Problems): ConfiguredPlugin => {
  const told = environmentParameters(environment)
  for (const warning of told.warnings) problems.warn(warning)
  const given = lowerCased(plugin.parameters)
  const defaults = Object.fromEntries(Object.entries(told.parameters).filter(([name]) => !given.has(name.toLowerCase())))
  const execution = pdExecution === undefined ? {} : { execution: pdExecution }
  const parameters = { ...(plugin.parameters as object | undefined), ...defaults, ...execution }
  checkParameters(parameters, told.variables, problems)
  return Object.keys(parameters).length === 0 ? plugin : { ...plugin, parameters }
}

/** What the file says was checked before: what is wrong now the environment says. */
const checkParameters = (parameters: object, variables: Readonly<Record<string, string>>, problems: Problems): void => {
  try {
    aibrixPdSettingsOf(parameters)
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    const variable = variables[error.path[0] ?? '']
    problems.error('parameter-invalid', variable === undefined ? error.message : `${variable}: ${error.message}`)
    problems.check()
  }
}

const lowerCased = (parameters: unknown): ReadonlySet<string> => new Set(Object.keys((parameters as object | undefined) ?? {}).map((name) => name.toLowerCase()))

const extractorWith = (plugin: ConfiguredPlugin): ConfiguredPlugin => {
  const added = Object.entries(ENGINE_METRICS).flatMap(([engine, metrics]) =>
    Object.entries(metrics).map(([name, metricSpec]) => ({ engine, attributeKey: CUSTOM_METRICS[name as keyof typeof CUSTOM_METRICS], metricSpec })),
  )
  const { addedMetrics = [], ...others } = (plugin.parameters ?? {}) as { readonly addedMetrics?: readonly { readonly attributeKey: string }[] }
  const own = addedMetrics.filter(({ attributeKey }) => !(Object.values(CUSTOM_METRICS) as string[]).includes(attributeKey))
  return { ...plugin, parameters: { ...others, addedMetrics: [...own, ...added] } }
}

/** The front door says that it sent a request when its prefill is over. */
const withTimeForPrefill = (engine: CompletedConfiguration['engine'], handler: ConfiguredPlugin): CompletedConfiguration['engine'] => {
  const { execution, prefillTimeoutSeconds } = aibrixPdSettingsOf(handler.parameters)
  if (execution !== 'gateway') return engine
  return { ...engine, timeouts: { ...engine.timeouts, sentMs: engine.timeouts.sentMs + prefillTimeoutSeconds * 1000 } }
}
