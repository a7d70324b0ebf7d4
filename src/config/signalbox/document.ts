import type { EngineSettings } from '../../core/configuration.ts'
import type { Place } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Problems } from '../problems.ts'
import type { Cursor } from '../yaml/cursor.ts'
import { settingKeys, SETTINGS } from './settings.ts'
import type { Setting, SignalboxSettings } from './settings.ts'

export const SIGNALBOX_KIND = 'SignalboxConfig'
const SIGNALBOX_VERSION = 'signalbox/v1'

/** The settings: flags over the document over the defaults. */
export const readSettings = (document: Cursor | undefined, flags: ReadonlyMap<string, string>, problems: Problems): SignalboxSettings => {
  const names = settingKeys.map((key) => SETTINGS[key].name)
  if (document?.hasOnly(['apiVersion', 'kind', ...names]) === true) checkVersion(document)
  for (const flag of flags.keys()) {
    if (!names.includes(flag)) problems.error('usage', `unknown setting \`--${flag}\`${didYouMean(`--${flag}`, names.map((name) => `--${name}`))}`)
  }
  const entries = settingKeys.map((key) => [key, readSetting(SETTINGS[key] as Setting<unknown>, document, flags, problems)])
  const settings = Object.fromEntries(entries) as SignalboxSettings
  checkTogether(settings, document, problems)
  return settings
}

const checkVersion = (document: Cursor): void => {
  const version = document.field('apiVersion')
  if (!version.given) document.fail(`apiVersion is missing: write \`apiVersion: ${SIGNALBOX_VERSION}\``)
  else if (version.value !== SIGNALBOX_VERSION) version.fail(`unknown apiVersion \`${String(version.value)}\` of ${SIGNALBOX_KIND}; did you mean \`${SIGNALBOX_VERSION}\`?`)
}

const readSetting = (setting: Setting<unknown>, document: Cursor | undefined, flags: ReadonlyMap<string, string>, problems: Problems): unknown => {
  const { name, kind, fallback, floor } = setting
  const field = document?.field(name)
  const flag = flags.get(name)
  const place: Place | undefined = flag !== undefined ? { file: `--${name}` } : field?.given === true ? field.place : undefined
  if (place === undefined) return fallback
  const given = flag ?? field?.value
  const value = kind.read(given)
  if (value === undefined) {
    problems.error('config-invalid', `${name} must be ${kind.wanted}, got ${JSON.stringify(given)}`, place)
    return fallback
  }
  if (typeof floor === 'number' && typeof value === 'number' && value < floor) {
    problems.warn(`${name} ${String(given)} is below the least, ${String(kind.write(floor))}, which is taken`, place)
    return floor
  }
  return value
}

const checkTogether = (settings: SignalboxSettings, document: Cursor | undefined, problems: Problems): void => {
  if (settings.unreachableFirstBackoffMs > settings.unreachableLastBackoffMs) {
    const name = SETTINGS.unreachableFirstBackoffMs.name
    problems.error('config-invalid', `${name} is longer than ${SETTINGS.unreachableLastBackoffMs.name}`, document?.placeOf([name]) ?? { file: `--${name}` })
  }
  if (settings.journal === 'nats' && settings.nats === undefined) {
    const name = SETTINGS.journal.name
    problems.error('config-invalid', `${name} is nats, but ${SETTINGS.nats.name} names no server`, document?.placeOf([name]) ?? { file: `--${name}` })
  }
}

/** The part of the settings on which decisions depend. */
export const engineSettings = (settings: SignalboxSettings): EngineSettings => ({
  pool: settings.pool,
  objectives: settings.objectives,
  timeouts: {
    producerMs: settings.timeoutProducerMs,
    sentMs: settings.timeoutSentMs,
    firstTokenMs: settings.timeoutFirstTokenMs,
    silenceMs: settings.timeoutSilenceMs,
  },
  retry: { attempts: settings.retryAttempts },
  unreachable: {
    strikes: settings.unreachableStrikes,
    firstBackoffMs: settings.unreachableFirstBackoffMs,
    lastBackoffMs: settings.unreachableLastBackoffMs,
  },
  staleAfterMs: settings.staleAfterMs,
  saturatedRequests: settings.saturatedRequests,
})

/** The settings as a document that reads back to them; those left to the engine are absent. */
export const settingsDocument = (settings: SignalboxSettings): Readonly<Record<string, unknown>> => {
  const document: Record<string, unknown> = { apiVersion: SIGNALBOX_VERSION, kind: SIGNALBOX_KIND }
  for (const key of settingKeys) {
    const { name, kind } = SETTINGS[key] as Setting<unknown>
    const written = kind.write(settings[key])
    if (written !== undefined) document[name] = written
  }
  return document
}
