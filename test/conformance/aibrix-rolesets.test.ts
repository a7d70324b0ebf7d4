import {
  ANNOTATIONS, candidatesOf, describeRolesets, fitsLength, isEligible, leastLoadedCombined, ModelConfigs, parseRoutingConfig, prefersCombined, rolesetsOf, routingConfigOf,
} from '../../src/aibrix/index.ts'
import { byCodeUnit } from '../../src/core/order.ts'
import { die, expectAsFile, podOf, type PodCase } from './aibrix-cases.ts'
import { forEachCase, type Case } from './runner.ts'

const names = (pods: readonly { readonly id: string }[]): readonly string[] => pods.map(({ id }) => id).sort(byCodeUnit)

interface Annotated {
  readonly annotations: Readonly<Record<string, string>> | null
  readonly configProfileHeader?: string
}

const profileOf = ({ annotations, configProfileHeader }: Annotated) =>
  new ModelConfigs().profile(podOf({ name: 'p', ...(annotations === null ? {} : { annotations }) }), configProfileHeader ?? '')

forEachCase('aibrix-rolesets.json', {
  eligibility: ({ input, expected }: Case<unknown, { pods: readonly PodCase[] }>): void => {
    const pods = input.pods.map(podOf)
    const eligible = rolesetsOf(pods).filter(isEligible)
    expectAsFile({
      ...describeRolesets(pods),
      eligibleCount: eligible.length,
      hasEligible: eligible.length > 0,
      prefillPodsOfEligible: names(eligible.flatMap(({ prefill }) => prefill)),
    }, expected)
  },
  collect: ({ config, input, expected }: Case<{ bucketing: boolean }, { pods: readonly PodCase[]; promptTokens: number }>): void => {
    const bucketing = config.bucketing ? { promptTokens: input.promptTokens, configs: new ModelConfigs(), profile: '' } : undefined
    const found = candidatesOf(input.pods.map(podOf), bucketing)
    expectAsFile(Object.fromEntries(Object.entries(found).map(([list, pods]) => [list, names(pods)])), expected)
  },
  bucketFits: ({ input, expected }: Case<unknown, { annotated: boolean; min?: number; max?: number; promptTokens: number }>): void => {
    const routing = { promptLenBucketMinLength: input.min, promptLenBucketMaxLength: input.max }
    const config = JSON.stringify({ profiles: { default: { routingConfig: routing } } })
    const profile = profileOf({ annotations: input.annotated ? { [ANNOTATIONS.config]: config } : null })
    expectAsFile({ fits: profile === undefined || fitsLength(profile.routing, input.promptTokens) }, expected)
    if (input.annotated) expectAsFile({ fits: fitsLength(routingConfigOf(routing), input.promptTokens) }, expected)
  },
  parseRoutingConfig: ({ input, expected }: Case<unknown, { json: string }>): void => {
    const { combined, decodeScorePolicy, prefillScorePolicy, promptLenBucketMaxLength: max, promptLenBucketMinLength: min } = parseRoutingConfig(input.json)
    expectAsFile({ combined, decodeScorePolicy, max, min, prefillScorePolicy }, expected)
  },
  combinedFlag: ({ input, expected }: Case<unknown, Annotated>): void => expectAsFile({ combined: profileOf(input)?.routing.combined ?? false }, expected),
  profileHeader: ({ input, expected }: Case<unknown, Annotated & { promptTokens: readonly number[] }>): void => {
    const routing = profileOf(input)?.routing
    expectAsFile({ combined: routing?.combined, fits: input.promptTokens.map((tokens) => routing !== undefined && fitsLength(routing, tokens)) }, expected)
  },
  preferCombined: ({ input, expected }: Case<unknown, { prefill: readonly PodCase[]; decode: readonly PodCase[]; combined: readonly PodCase[] }>): void =>
    expectAsFile({ prefer: prefersCombined(input.prefill.map(podOf), input.decode.map(podOf), input.combined.map(podOf), (pod) => pod.metrics) }, expected),
  pickCombined: ({ input, expected }: Case<unknown, { combined: readonly PodCase[] }>): void =>
    expectAsFile({ pod: leastLoadedCombined(input.combined.map(podOf), (pod) => pod.metrics, die())?.id ?? null }, expected),
})
