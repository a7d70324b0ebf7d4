import { expect } from 'vitest'
import { decodeLoads, prefillImbalance } from '../../src/aibrix/index.ts'
import { die, expectAsFile, podOf, type PodCase } from './aibrix-cases.ts'
import { forEachCase, type Case } from './runner.ts'

interface Spreads {
  readonly minSpread: number
  readonly throughputMinSpread: number
  readonly scoreRatioThreshold: number
}

forEachCase('aibrix-imbalance.json', {
  prefill: ({ config, input, expected }: Case<{ minSpread: number }, { activeByPod: Readonly<Record<string, number>>; pods: readonly string[] }>): void => {
    const { imbalanced, pod } = prefillImbalance(input.pods.map((name) => podOf({ name })), new Map(Object.entries(input.activeByPod)), config.minSpread, die())
    expectAsFile({ imbalanced, pod: pod?.id ?? null }, expected)
  },
  decode: ({ config, input, expected }: Case<Spreads, { pods: readonly PodCase[] }>): void => {
    const loads = decodeLoads(input.pods.map(podOf), (pod) => pod.metrics, (pod) => pod.pendingDecode, config, die())
    expect(loads.cause === undefined).toBe(loads.pod === undefined)
    expectAsFile({
      freeGpuByPod: loads.freeGPUPercents,
      maxFreeGpuPercent: loads.maxFreeGPUUsage,
      maxRunningReqs: loads.maxRequestCount,
      maxThroughput: loads.maxThroughput,
      pod: loads.pod?.id ?? null,
      runningByPod: loads.counts,
      throughputByPod: loads.throughputs,
    }, expected)
  },
})
