import type { CompletedConfiguration, ConfiguredPlugin, EngineSettings } from '../../core/configuration.ts'
import type { PluginKind } from '../../core/contract.ts'
import { isDetector, isProducer, isProfileHandler } from '../../core/roles.ts'
import { orderByData } from '../graph/order.ts'
import type { DataEdge } from '../graph/order.ts'
import { addMissingProducers } from '../graph/producers.ts'
import type { Problems } from '../problems.ts'
import type { EndpointPickerDocument } from './document.ts'
import { injectDefaults } from './injection.ts'
import type { Injected } from './injection.ts'
import { PluginSet } from './plugin-set.ts'
import type { MadePlugin, TypeList } from './plugin-set.ts'
import { buildProfiles, checkJointProfiles, checkProfileReferences } from './profiles.ts'
import type { Reference } from './reference.ts'

/** Who gives data to whom, and in which order the plugins stand for it. */
export interface PluginGraph {
  /** Names of all plugins, each after those whose data it requires. */
  readonly order: readonly string[]
  readonly edges: readonly DataEdge[]
  /** Optional data that nobody produces. */
  readonly notes: readonly string[]
}

export interface Completion {
  readonly completed: CompletedConfiguration
  readonly graph: PluginGraph
  readonly notes: Injected['notes']
  /** Why each injected plugin was added, by name. */
  readonly injections: ReadonlyMap<string, string>
}

/** Completes a document that was read. Throws AggregateConfigurationError with all that is wrong with it. */
export const completeEndpointPicker = (document: EndpointPickerDocument, list: TypeList, engine: EngineSettings, problems: Problems): Completion => {
  const set = new PluginSet(list, problems)
  set.configure(document.plugins)
  checkProfileReferences(document.profiles, set, problems)
  checkDataReferences(document, set, problems)
  // What follows goes by what the plugins are, so all of them must be there.
  problems.check()
  const injected = injectDefaults(document, set, problems)
  const profiles = buildProfiles(injected.profiles, set, problems)
  checkJointProfiles(injected.profiles, set, problems)
  checkRoles(document, injected, set, problems)
  problems.check()
  const notes = addMissingProducers(set, problems)
  problems.check()
  const { order, edges } = orderByData(set.all, problems)
  problems.check()
  const handler = set.all.find(({ plugin }) => isProfileHandler(plugin))
  const completed: CompletedConfiguration = {
    featureGates: document.featureGates,
    plugins: set.all.map(configured),
    profiles,
    dataLayer: {
      sources: injected.sources.map(({ source, extractors }) => ({ source: source.name, extractors: extractors.map(({ name }) => name) })),
      ...(document.discovery === undefined ? {} : { discovery: document.discovery.name }),
    },
    parsers: injected.parsers.map(({ name }) => name),
    saturationDetector: injected.saturationDetector.name,
    producers: order.filter(({ plugin }) => isProducer(plugin)).map(({ entry }) => entry.name),
    profileHandler: handler?.entry.name ?? '',
    flowControl: document.flowControl,
    engine,
  }
  const injections = new Map(set.all.filter(isInjected).map(({ entry, injectedBy }) => [entry.name, injectedBy]))
  return { completed, graph: { order: order.map(({ entry }) => entry.name), edges, notes }, notes: injected.notes, injections }
}

const isInjected = (made: MadePlugin): made is MadePlugin & { injectedBy: string } => made.injectedBy !== undefined

const configured = ({ entry, injectedBy }: MadePlugin): ConfiguredPlugin => ({
  name: entry.name,
  type: entry.type,
  ...(entry.parameters === undefined ? {} : { parameters: entry.parameters }),
  ...(injectedBy === undefined ? {} : { injected: true }),
})

/** References that injection does not fill. */
const checkDataReferences = (document: EndpointPickerDocument, set: PluginSet, problems: Problems): void => {
  const tell = (what: string, { name, place }: Reference): void => {
    if (!set.has(name)) problems.error('config-unknown-reference', `unknown ${what} \`${name}\`${set.hint(name)}`, place)
  }
  for (const { source, extractors } of document.sources) {
    tell('data source', source)
    for (const extractor of extractors) tell('extractor', extractor)
  }
  if (document.discovery !== undefined) tell('discovery plugin', document.discovery)
  const detector = document.saturationDetector
  if (detector !== undefined && detector.name !== 'utilization-detector') tell('saturation detector', detector)
  for (const parser of document.parsers) if (!set.isKnown(parser.name)) tell('parser', parser)
}

const checkRoles = (document: EndpointPickerDocument, injected: Injected, set: PluginSet, problems: Problems): void => {
  const tell = (reference: Reference, what: string, fits: (made: MadePlugin) => boolean): void => {
    const made = set.get(reference.name)
    if (made !== undefined && !fits(made)) problems.error('config-invalid', `\`${reference.name}\` (a ${made.type.type}) is no ${what}`, reference.place)
  }
  const ofKind = (kind: PluginKind) => (made: MadePlugin): boolean => made.type.kinds.includes(kind)
  for (const { source } of injected.sources) tell(source, 'data source', ofKind('source'))
  if (document.discovery !== undefined) tell(document.discovery, 'discovery plugin', ofKind('discovery'))
  for (const parser of injected.parsers) tell(parser, 'parser', ofKind('parser'))
  if (injected.sources.length === 0) problems.warn('there is no data source: endpoints have no metrics unless something reports them')
  tell(injected.saturationDetector, 'saturation detector', ({ plugin }) => isDetector(plugin))
}
