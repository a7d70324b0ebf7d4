import type { PluginType } from '../core/contract.ts'
import { probabilisticAdmitter } from './admitter/probabilistic-admitter/index.ts'
import { alwaysDisaggMultimodalDecider } from './decider/always-disagg-multimodal-decider/index.ts'
import { alwaysDisaggPdDecider } from './decider/always-disagg-pd-decider/index.ts'
import { prefixBasedPdDecider } from './decider/prefix-based-pd-decider/index.ts'
import { concurrencyDetector } from './detector/concurrency-detector/index.ts'
import { utilizationDetector } from './detector/utilization-detector/index.ts'
import { fileDiscovery } from './discovery/file-discovery/index.ts'
import { coreMetricsExtractor } from './extractor/core-metrics-extractor/index.ts'
import { byLabel } from './filter/by-label/index.ts'
import { decodeFilter } from './filter/decode-filter/index.ts'
import { encodeFilter } from './filter/encode-filter/index.ts'
import { headerBasedTestingFilter } from './filter/header-based-testing-filter/index.ts'
import { byLabelSelector, labelSelectorFilter } from './filter/label-selector-filter/index.ts'
import { prefillFilter } from './filter/prefill-filter/index.ts'
import { prefixCacheAffinityFilter } from './filter/prefix-cache-affinity-filter/index.ts'
import { multiclusterSessionAffinityFilter, sessionAffinityFilter } from './filter/session-affinity-filter/index.ts'
import { fcfsOrderingPolicy } from './flow-control/fcfs-ordering-policy/index.ts'
import { globalStrictFairnessPolicy } from './flow-control/global-strict-fairness-policy/index.ts'
import { staticUsageLimitPolicy } from './flow-control/static-usage-limit-policy/index.ts'
import { disaggHeadersHandler, prefillHeaderHandler } from './header-handler/disagg-headers-handler/index.ts'
import { anthropicParser } from './parser/anthropic-parser/index.ts'
import { openaiParser } from './parser/openai-parser/index.ts'
import { passthroughParser } from './parser/passthrough-parser/index.ts'
import { vllmhttpParser } from './parser/vllmhttp-parser/index.ts'
import { maxScorePicker } from './picker/max-score-picker/index.ts'
import { randomPicker } from './picker/random-picker/index.ts'
import { weightedRandomPicker } from './picker/weighted-random-picker/index.ts'
import { aibrixMetricsProducer } from './producer/aibrix-metrics-producer/index.ts'
import { approxPrefixCacheProducer, multiclusterApproxPrefixCacheProducer } from './producer/approx-prefix-cache-producer/index.ts'
import { inflightLoadProducer } from './producer/inflight-load-producer/index.ts'
import { precisePrefixCacheProducer } from './producer/precise-prefix-cache-producer/index.ts'
import { sessionIdProducer } from './producer/session-id-producer/index.ts'
import { tokenizer, tokenProducer } from './producer/token-producer/index.ts'
import { aibrixPdProfileHandler } from './profile-handler/aibrix-pd-profile-handler/index.ts'
import { dataParallelProfileHandler } from './profile-handler/data-parallel-profile-handler/index.ts'
import { disaggProfileHandler } from './profile-handler/disagg-profile-handler/index.ts'
import { pdProfileHandler } from './profile-handler/pd-profile-handler/index.ts'
import { singleProfileHandler } from './profile-handler/single-profile-handler/index.ts'
import { requestAttributeReporter } from './reporter/request-attribute-reporter/index.ts'
import { activeRequestScorer } from './scorer/active-request-scorer/index.ts'
import { contextLengthAware } from './scorer/context-length-aware/index.ts'
import { kvCacheUtilizationScorer } from './scorer/kv-cache-utilization-scorer/index.ts'
import { loadAwareScorer } from './scorer/load-aware-scorer/index.ts'
import { loraAffinityScorer } from './scorer/lora-affinity-scorer/index.ts'
import { multiclusterKvCacheUtilizationScorer } from './scorer/multicluster-kv-cache-utilization-scorer/index.ts'
import { multiclusterQueueScorer } from './scorer/multicluster-queue-scorer/index.ts'
import { noHitLruScorer } from './scorer/no-hit-lru-scorer/index.ts'
import { precisePrefixCacheScorer } from './scorer/precise-prefix-cache-scorer/index.ts'
import { multiclusterPrefixCacheScorer, prefixCacheScorer } from './scorer/prefix-cache-scorer/index.ts'
import { queueScorer } from './scorer/queue-scorer/index.ts'
import { runningRequestsSizeScorer } from './scorer/running-requests-size-scorer/index.ts'
import { sessionAffinityScorer } from './scorer/session-affinity-scorer/index.ts'
import { tokenLoadScorer } from './scorer/token-load-scorer/index.ts'
import { endpointNotificationSource } from './source/endpoint-notification-source/index.ts'
import { metricsDataSource } from './source/metrics-data-source/index.ts'

// What plugins of one's own are written against.
export * from '../core/attribute.ts'
export type * from '../core/contract.ts'
export type { Endpoint } from '../core/endpoint.ts'
export type { RandomStream } from '../core/random.ts'
export type { ProfileResults, Request, ResponseStep, SchedulingResult, Stage, Usage } from '../core/request.ts'

export { LegacyAdmission } from './admitter/legacy-admission/index.ts'
export { ProbabilisticAdmitter } from './admitter/probabilistic-admitter/index.ts'
export { AlwaysDisaggMultimodalDecider } from './decider/always-disagg-multimodal-decider/index.ts'
export { AlwaysDisaggPdDecider } from './decider/always-disagg-pd-decider/index.ts'
export { PrefixBasedPdDecider } from './decider/prefix-based-pd-decider/index.ts'
export { ConcurrencyDetector } from './detector/concurrency-detector/index.ts'
export { UtilizationDetector } from './detector/utilization-detector/index.ts'
export { FileDiscovery } from './discovery/file-discovery/index.ts'
export { CoreMetricsExtractor } from './extractor/core-metrics-extractor/index.ts'
export { ByLabel } from './filter/by-label/index.ts'
export { HeaderBasedTestingFilter } from './filter/header-based-testing-filter/index.ts'
export { LabelSelectorFilter } from './filter/label-selector-filter/index.ts'
export { PrefixCacheAffinityFilter } from './filter/prefix-cache-affinity-filter/index.ts'
export { SessionAffinityFilter } from './filter/session-affinity-filter/index.ts'
export { FcfsOrderingPolicy } from './flow-control/fcfs-ordering-policy/index.ts'
export { GlobalStrictFairnessPolicy } from './flow-control/global-strict-fairness-policy/index.ts'
export { StaticUsageLimitPolicy } from './flow-control/static-usage-limit-policy/index.ts'
export { DisaggHeadersHandler } from './header-handler/disagg-headers-handler/index.ts'
export { KNOWN_TYPES } from './known-types.ts'
export { AnthropicParser } from './parser/anthropic-parser/index.ts'
export { OpenaiParser } from './parser/openai-parser/index.ts'
export { PassthroughParser } from './parser/passthrough-parser/index.ts'
export { VllmhttpParser } from './parser/vllmhttp-parser/index.ts'
export { MaxScorePicker } from './picker/max-score-picker/index.ts'
export { RandomPicker } from './picker/random-picker/index.ts'
export { WeightedRandomPicker } from './picker/weighted-random-picker/index.ts'
export { ApproxPrefixCacheProducer } from './producer/approx-prefix-cache-producer/index.ts'
export { InFlightLoadProducer } from './producer/inflight-load-producer/index.ts'
export { splitEndpointId } from './producer/inflight-load-producer/load-gauges.ts'
export { loadView } from './producer/inflight-load-producer/load-view.ts'
export { TokenEstimator, uncachedInput } from './producer/inflight-load-producer/token-estimator.ts'
export { PrecisePrefixCacheProducer } from './producer/precise-prefix-cache-producer/index.ts'
export { SessionIdProducer } from './producer/session-id-producer/index.ts'
export { TokenProducer } from './producer/token-producer/index.ts'
export { DataParallelProfileHandler } from './profile-handler/data-parallel-profile-handler/index.ts'
export { DisaggProfileHandler, PEER_ENDPOINT } from './profile-handler/disagg-profile-handler/index.ts'
export { PdProfileHandler } from './profile-handler/pd-profile-handler/index.ts'
export { SingleProfileHandler } from './profile-handler/single-profile-handler/index.ts'
export { countDecision, decisionTypeOf } from './profile-handler/stage-decision.ts'
export { RequestAttributeReporter } from './reporter/request-attribute-reporter/index.ts'
export { ActiveRequestScorer } from './scorer/active-request-scorer/index.ts'
export { ContextLengthAware } from './scorer/context-length-aware/index.ts'
export { KvCacheUtilizationScorer } from './scorer/kv-cache-utilization-scorer/index.ts'
export { LoadAwareScorer } from './scorer/load-aware-scorer/index.ts'
export { LoraAffinityScorer } from './scorer/lora-affinity-scorer/index.ts'
export { MulticlusterKvCacheUtilizationScorer } from './scorer/multicluster-kv-cache-utilization-scorer/index.ts'
export { MulticlusterQueueScorer } from './scorer/multicluster-queue-scorer/index.ts'
export { NoHitLruScorer } from './scorer/no-hit-lru-scorer/index.ts'
export { PrefixCacheScorer } from './scorer/prefix-cache-scorer/index.ts'
export { QueueScorer } from './scorer/queue-scorer/index.ts'
export { RunningRequestsSizeScorer } from './scorer/running-requests-size-scorer/index.ts'
export { SessionAffinityScorer } from './scorer/session-affinity-scorer/index.ts'
export { TokenLoadScorer } from './scorer/token-load-scorer/index.ts'
export { EndpointNotificationSource } from './source/endpoint-notification-source/index.ts'
export { MetricsDataSource } from './source/metrics-data-source/index.ts'

/** The plugin types that are built in. */
export const pluginTypes: readonly PluginType[] = [
  activeRequestScorer,
  aibrixMetricsProducer,
  aibrixPdProfileHandler,
  alwaysDisaggMultimodalDecider,
  alwaysDisaggPdDecider,
  anthropicParser,
  approxPrefixCacheProducer,
  byLabel,
  byLabelSelector,
  concurrencyDetector,
  contextLengthAware,
  coreMetricsExtractor,
  dataParallelProfileHandler,
  decodeFilter,
  disaggHeadersHandler,
  disaggProfileHandler,
  encodeFilter,
  endpointNotificationSource,
  fcfsOrderingPolicy,
  fileDiscovery,
  globalStrictFairnessPolicy,
  headerBasedTestingFilter,
  inflightLoadProducer,
  kvCacheUtilizationScorer,
  labelSelectorFilter,
  loadAwareScorer,
  loraAffinityScorer,
  maxScorePicker,
  metricsDataSource,
  multiclusterApproxPrefixCacheProducer,
  multiclusterKvCacheUtilizationScorer,
  multiclusterPrefixCacheScorer,
  multiclusterQueueScorer,
  multiclusterSessionAffinityFilter,
  noHitLruScorer,
  openaiParser,
  passthroughParser,
  pdProfileHandler,
  precisePrefixCacheProducer,
  precisePrefixCacheScorer,
  prefillFilter,
  prefillHeaderHandler,
  prefixBasedPdDecider,
  prefixCacheAffinityFilter,
  prefixCacheScorer,
  probabilisticAdmitter,
  queueScorer,
  randomPicker,
  requestAttributeReporter,
  runningRequestsSizeScorer,
  sessionAffinityFilter,
  sessionAffinityScorer,
  sessionIdProducer,
  singleProfileHandler,
  staticUsageLimitPolicy,
  tokenizer,
  tokenLoadScorer,
  tokenProducer,
  utilizationDetector,
  vllmhttpParser,
  weightedRandomPicker,
]
