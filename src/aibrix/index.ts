/** The prefill/decode router of AIBrix, as pure functions: pairs of pods chosen together within a roleset. */
export { AssignmentCounts } from './assignment-counts.ts'
export { blockHashBytes, hashesOf, tokenBytes } from './block-hash.ts'
export { HIGH_LOAD, leastLoadedCombined, LOW_LOAD, prefersCombined, queueDrainSeconds } from './combined-pods.ts'
export { decodeLoads, type DecodeImbalance, type DecodeLoads, type DecodeSpreads } from './decode-imbalance.ts'
export { isInvalidScore, scoreDecodePods, type DecodePass, type DecodeScoreRun, type RolesetDecodePick } from './decode-pass.ts'
export {
  CONDUCTOR, ConductorDecodePolicy, DEFAULT_WEIGHTS, LEAST_REQUEST, LeastRequestDecodePolicy, LOAD_BALANCING, LoadBalancingDecodePolicy,
  type DecodePodInput, type DecodeScorePolicy, type LoadBalancingWeights,
} from './decode-policy.ts'
export { DecodePolicies, decodePolicies, registerDecodePolicy, type DecodePolicyFactory, type ResolvedDecodePolicy } from './decode-registry.ts'
export { durationBucket, goDuration, tokenBucket, totalBucket } from './duration-text.ts'
export { BodyError } from './engines/body-edit.ts'
export { connectorName, connectorOf, type Connector } from './engines/connector.ts'
export { engineProtocol } from './engines/engines.ts'
export {
  failureLabels, PREFILL_FAILED, PREFILL_SUCCEEDED, SELECTION_FAILED, type FailureLabels, type PrefillFailure,
} from './engines/failure-label.ts'
export type { EngineProtocol, LegBodies, LegIds } from './engines/protocol.ts'
export { bootstrapPortOf, sglangBodies, validateSglangBody, type Bootstrap } from './engines/sglang.ts'
export { disaggRequestId, isMachineId } from './engines/trtllm.ts'
export { hashSeedOf, positiveInteger, positiveNumber, textOr, truth, wrapped32, type Environment } from './environment.ts'
export { chooseFinal, finalScores, NO_PAIR, type FinalChoice, type RolesetScore } from './final-choice.ts'
export { labelExpression, LabelExpressionError, type LabelExpression } from './label-expression.ts'
export { automaticProfile, isAutomatic, ModelConfigs, parseModelConfig, profileFor, type ModelConfig, type ModelProfile, type RequestLengths } from './model-config.ts'
export { ANNOTATIONS, commonEngine, engineOf, LABELS, roleOf, rolesetOf, servesHttp, servicePortOf, type Pod } from './pod.ts'
export { UNMEASURED, type MetricsOf, type PodMetrics, type PrefillTime } from './pod-metrics.ts'
export { prefillImbalance, type PrefillImbalance } from './prefill-imbalance.ts'
export { scorePrefillPods, type PrefillPass, type PrefillScoreRun, type RolesetPrefillPick } from './prefill-pass.ts'
export {
  CONDUCTOR_PREFILL, conductorMs, ConductorPrefillPolicy, LEAST_REQUEST_PREFILL, LeastRequestPrefillPolicy, PREFIX_CACHE, PrefixCachePrefillPolicy,
  type PrefillScorePolicy, type PrefillScorer,
} from './prefill-policy.ts'
export { PrefillPolicies, prefillPolicies, registerPrefillPolicy, type PrefillPolicyFactory, type PrefillPolicyParts } from './prefill-registry.ts'
export { PrefixStore } from './prefix-store.ts'
export { PrefixTable, type PrefixTableLimits, type SavedPrefixTable } from './prefix-table.ts'
export { candidatesOf, describeRolesets, isEligible, rolesetsOf, type Bucketing, type Candidates, type Roleset, type RolesetView } from './rolesets.ts'
export { DEFAULT_ROUTING_CONFIG, fitsLength, parseRoutingConfig, routingConfigOf, UNBOUNDED_LENGTH, type RoutingConfig } from './routing-config.ts'
export { routingBlocksKind, routingKeys, ROUTING_BYTES, ROUTING_TOKENS, type Cl100k, type RoutingTokenizer } from './routing-keys.ts'
export { routingTextOf } from './routing-text.ts'
export type { HashedPrompt, RoutingContext } from './routing-context.ts'
export { RoutingError, type RoutingFailure } from './routing-error.ts'
export { effectivePolicies, selectPair, type Question, type RouterPolicies, type Scored, type Selection } from './selection.ts'
export { DEFAULT_ROUTER_SETTINGS, type RouterSettings } from './settings.ts'
export { PendingDecodeTracker, pendingDecodesOn, PrefillRequestTracker, prefillsOn } from './trackers.ts'
