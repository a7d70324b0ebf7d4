import { describe, expect, it } from 'vitest'
import { reportOf } from '../../../../src/actors/telemetry/index.ts'
import { emptyEndpointMetrics } from '../../../../src/wire/index.ts'

describe('reportOf', () => {
  it('leaves out what the message does not have', () => {
    expect(reportOf(emptyEndpointMetrics())).toEqual({})
  })

  it('takes every metric, an empty list of models that was reported, and the sequence', () => {
    const message = {
      ...emptyEndpointMetrics(),
      waitingQueueSize: 0,
      runningRequestsSize: 2,
      kvCacheUsage: 0.5,
      cacheBlockSize: 16,
      cacheNumBlocks: 100,
      maxActiveModels: 4,
      activeModels: [{ model: 'a', count: 1 }],
      modelsReported: true,
      custom: [{ name: 'own', value: 1.5 }],
    }
    expect(reportOf(message, 7)).toEqual({
      sequence: 7,
      waitingQueueSize: 0,
      runningRequestsSize: 2,
      kvCacheUsage: 0.5,
      cacheBlockSize: 16,
      cacheNumBlocks: 100,
      maxActiveModels: 4,
      activeModels: new Map([['a', 1]]),
      waitingModels: new Map(),
      custom: new Map([['own', 1.5]]),
    })
  })
})
