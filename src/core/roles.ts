import type {
  AdmissionController, Admitter, Decider, Detector, EndpointEvents, Filter, KvEvents, MetricsEvents, PeerLoads, Picker, Plugin, PluginKind, PluginType, PreRequest, Producer,
  ProfileHandler, Reporter, ResponseBody, ResponseHeader, Scorer, Screener, StageEvents,
} from './contract.ts'

// A plugin has the roles whose methods it bears.
const bears = (plugin: Plugin, method: string): boolean => typeof (plugin as unknown as Record<string, unknown>)[method] === 'function'

export const isFilter = (plugin: Plugin): plugin is Filter => bears(plugin, 'filter')
export const isScorer = (plugin: Plugin): plugin is Scorer => bears(plugin, 'score')
/** A profile handler picks profiles, not endpoints: it is no picker. */
export const isPicker = (plugin: Plugin): plugin is Picker => bears(plugin, 'pick') && !isProfileHandler(plugin)
export const isProfileHandler = (plugin: Plugin): plugin is ProfileHandler => bears(plugin, 'processResults')
export const isProducer = (plugin: Plugin): plugin is Producer => bears(plugin, 'produce')
export const isDecider = (plugin: Plugin): plugin is Decider => bears(plugin, 'runs')
export const isDetector = (plugin: Plugin): plugin is Detector => bears(plugin, 'saturation')
export const isScreener = (plugin: Plugin): plugin is Screener => bears(plugin, 'screen')
export const isAdmitter = (plugin: Plugin): plugin is Admitter => bears(plugin, 'admit')
export const isAdmissionController = (plugin: Plugin): plugin is AdmissionController => bears(plugin, 'admission')
export const isPreRequest = (plugin: Plugin): plugin is PreRequest => bears(plugin, 'preRequest')
export const isResponseBody = (plugin: Plugin): plugin is ResponseBody => bears(plugin, 'responseBody')

export const isResponseHeader = (plugin: Plugin): plugin is ResponseHeader => bears(plugin, 'responseHeaders')
export const isEndpointEvents = (plugin: Plugin): plugin is EndpointEvents => bears(plugin, 'endpointAdded') && bears(plugin, 'endpointRemoved')
export const isStageEvents = (plugin: Plugin): plugin is StageEvents => bears(plugin, 'requestSent') && bears(plugin, 'stageEnded')
export const isMetricsEvents = (plugin: Plugin): plugin is MetricsEvents => bears(plugin, 'metricsHeard')
export const isKvEvents = (plugin: Plugin): plugin is KvEvents => bears(plugin, 'kvBlocksStored') && bears(plugin, 'kvBlocksRemoved') && bears(plugin, 'kvBlocksCleared')
export const isReporter = (plugin: Plugin): plugin is Reporter => bears(plugin, 'report')
export const takesPeerLoads = (plugin: Plugin): plugin is PeerLoads => bears(plugin, 'peerLoad') && bears(plugin, 'peerGone')

/** The kinds that oblige a plugin to bear methods; the others only describe. */
const TESTS: Partial<Readonly<Record<PluginKind, (plugin: Plugin) => boolean>>> = {
  filter: isFilter,
  scorer: isScorer,
  picker: isPicker,
  producer: isProducer,
  decider: isDecider,
  detector: isDetector,
  admitter: isAdmitter,
  screener: isScreener,
  'profile-handler': isProfileHandler,
  'admission-controller': isAdmissionController,
  'pre-request': isPreRequest,
  'response-body': isResponseBody,
}

/** The kinds that a type claims and its plugin does not bear out; empty when all is well. */
export const missingRoles = (type: PluginType, plugin: Plugin): readonly PluginKind[] => type.kinds.filter((kind) => TESTS[kind]?.(plugin) === false)
