import type { Place } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Cursor } from '../yaml/cursor.ts'
import { readFeatureGates } from './feature-gates.ts'
import type { FeatureGates } from './feature-gates.ts'
import { readFlowControl } from './flow-control.ts'
import type { FlowControl } from './flow-control.ts'
import { readReference } from './reference.ts'
import type { Reference } from './reference.ts'

export const ENDPOINT_PICKER_KIND = 'EndpointPickerConfig'
export const ENDPOINT_PICKER_VERSION = 'llm-d.ai/v1alpha1'
const OLD_VERSION = 'inference.networking.x-k8s.io/v1alpha1'

export interface PluginEntry {
  readonly name: string
  readonly type: string
  readonly parameters: unknown
  /** Absent where injection made the entry. */
  readonly cursor?: Cursor
}

export interface ProfileEntry extends Reference {
  readonly weight: number | undefined
  readonly weightPlace?: Place
}

export interface ProfileDocument {
  readonly name: string
  readonly place?: Place
  readonly entries: readonly ProfileEntry[]
}

export interface DataSource {
  readonly source: Reference
  readonly extractors: readonly Reference[]
}

/** An EndpointPickerConfig as written, each part checked on its own; nothing is resolved or injected yet. */
export interface EndpointPickerDocument extends FlowControl {
  readonly featureGates: FeatureGates
  readonly plugins: readonly PluginEntry[]
  readonly profiles: readonly ProfileDocument[]
  readonly injectDefaults: boolean
  readonly sources: readonly DataSource[]
  readonly discovery: Reference | undefined
  readonly parsers: readonly Reference[]
}

const FIELDS = [
  'apiVersion', 'kind', 'featureGates', 'plugins', 'schedulingProfiles', 'dataLayer', 'flowControl', 'requestHandler', 'saturationDetector', 'parser',
] as const

/** Reads the document strictly, telling all that is wrong with it. (llm-d: EndpointPickerConfig, strict decode and its migrations) */
export const readEndpointPicker = (root: Cursor): EndpointPickerDocument => {
  if (root.hasOnly(FIELDS)) checkVersion(root)
  const featureGates = readFeatureGates(root.field('featureGates'))
  return {
    featureGates,
    plugins: root.field('plugins').items().map(readPlugin).filter((entry) => entry !== undefined),
    profiles: readProfiles(root.field('schedulingProfiles')),
    ...readDataLayer(root.field('dataLayer')),
    parsers: readParsers(root),
    ...readFlowControl(root, featureGates),
  }
}

const checkVersion = (root: Cursor): void => {
  const version = root.field('apiVersion')
  if (!version.given) root.fail(`apiVersion is missing: write \`apiVersion: ${ENDPOINT_PICKER_VERSION}\``)
  else if (version.value === OLD_VERSION) version.warn(`apiVersion \`${OLD_VERSION}\` is deprecated; use \`${ENDPOINT_PICKER_VERSION}\``)
  else if (version.value !== ENDPOINT_PICKER_VERSION) {
    version.fail(`unknown apiVersion \`${String(version.value)}\` of ${ENDPOINT_PICKER_KIND}${didYouMean(String(version.value), [ENDPOINT_PICKER_VERSION])}`)
  }
}

const readPlugin = (entry: Cursor): PluginEntry | undefined => {
  if (!entry.hasOnly(['name', 'type', 'parameters'])) return entry.given ? undefined : entry.fail(`${entry.name} is empty: a plugin needs a type`)
  const type = entry.field('type').text()
  const name = entry.field('name').text()
  if (type === undefined || type === '') {
    return entry.field('type').given && type === undefined ? undefined : entry.fail(`${name === undefined ? entry.name : `plugin \`${name}\``} has no type`)
  }
  const parameters = entry.field('parameters')
  const given = parameters.object()
  return { name: name === undefined || name === '' ? type : name, type, parameters: given, cursor: entry }
}

const readProfiles = (profiles: Cursor): readonly ProfileDocument[] => {
  const seen = new Set<string>()
  return profiles.items().map((profile) => {
    profile.hasOnly(['name', 'plugins'])
    const field = profile.field('name')
    const name = field.text() ?? ''
    if (name === '' && (!field.given || field.value === '')) profile.fail(`${profile.name} has no name`)
    else if (seen.has(name)) field.fail(`there are two profiles \`${name}\``, 'config-duplicate')
    seen.add(name)
    const entries = profile.field('plugins').items().map((entry) => readProfileEntry(entry, name))
    return { name, place: profile.place, entries: entries.filter((entry) => entry !== undefined) }
  })
}

const readProfileEntry = (entry: Cursor, profile: string): ProfileEntry | undefined => {
  entry.hasOnly(['pluginRef', 'weight'])
  const reference = readReference(entry, `an entry of the profile \`${profile}\``)
  const weight = entry.field('weight')
  const given = weight.number()
  return reference && { ...reference, weight: given, ...(given === undefined ? {} : { weightPlace: weight.place }) }
}

const readDataLayer = (layer: Cursor): Pick<EndpointPickerDocument, 'injectDefaults' | 'sources' | 'discovery'> => {
  layer.hasOnly(['injectDefaults', 'sources', 'discovery', 'peerDiscovery', 'crossReplicaSyncerPluginRef', 'crossReplicaSyncInterval'])
  for (const name of ['peerDiscovery', 'crossReplicaSyncerPluginRef']) {
    const field = layer.field(name)
    if (field.given) field.fail(`${field.name} is known from llm-d but not built: replicas of a pool share their load over NATS`, 'config-not-built')
  }
  layer.field('crossReplicaSyncInterval').duration()
  const sources = layer.field('sources').items().map((entry) => {
    entry.hasOnly(['pluginRef', 'extractors'])
    const source = readReference(entry, 'a data source')
    const extractors = entry.field('extractors').items().map((extractor) => {
      extractor.hasOnly(['pluginRef'])
      return readReference(extractor, 'an extractor')
    })
    return source && { source, extractors: extractors.filter((extractor) => extractor !== undefined) }
  })
  const discovery = layer.field('discovery')
  return {
    injectDefaults: layer.field('injectDefaults').flag() ?? true,
    sources: sources.filter((source) => source !== undefined),
    discovery: discovery.hasOnly(['pluginRef']) ? readReference(discovery, 'dataLayer.discovery') : undefined,
  }
}

const readParsers = (root: Cursor): readonly Reference[] => {
  const handler = root.field('requestHandler')
  handler.hasOnly(['parsers'])
  const parsers = handler.field('parsers').items().map((parser) => {
    parser.hasOnly(['pluginRef'])
    return readReference(parser, 'a parser')
  })
  const old = root.field('parser')
  if (!old.given) return parsers.filter((parser) => parser !== undefined)
  old.warn('parser is deprecated; use requestHandler.parsers')
  old.hasOnly(['pluginRef'])
  const moved = readReference(old, 'parser')
  return (parsers.length > 0 ? parsers : [moved]).filter((parser) => parser !== undefined)
}
