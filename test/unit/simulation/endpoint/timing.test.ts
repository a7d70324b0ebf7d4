import { describe, expect, it } from 'vitest'
import { blocksNeeded, completeTiming, decodeStepMs, DEFAULT_TIMING, prefillMs, transferMs } from '../../../../src/simulation/endpoint/timing.ts'

const timing = completeTiming({
  overheadMs: 4, prefillTokensPerSecond: 1000, decodeStepMs: 20, decodeStepMsPerSequence: 0.5,
  prefillInterference: 2, transferMs: 5, transferTokensPerSecond: 10_000, encodeMsPerItem: 60,
})

describe('timing model', () => {
  it('takes the fixed cost, the uncached tokens at the prefill rate and the media items for a prefill', () => {
    expect(prefillMs(timing, 250, 0)).toBe(4 + 250)
    expect(prefillMs(timing, 0, 2)).toBe(4 + 120)
  })

  it('takes the fixed cost and the tokens at the transfer rate for remote KV', () => {
    expect(transferMs(timing, 300)).toBe(5 + 30)
  })

  it('lets a decode step grow mildly with the batch and by the factor beside a prefill', () => {
    expect(decodeStepMs(timing, 1, false)).toBe(20)
    expect(decodeStepMs(timing, 5, false)).toBe(22)
    expect(decodeStepMs(timing, 5, true)).toBe(44)
  })

  it('rounds blocks up over prompt and output together', () => {
    expect(blocksNeeded(timing, 16, 0)).toBe(1)
    expect(blocksNeeded(timing, 16, 1)).toBe(2)
    expect(blocksNeeded(timing, 15, 17)).toBe(2)
  })

  it('fills gaps with the defaults', () => {
    expect(completeTiming({})).toEqual(DEFAULT_TIMING)
  })

  it.each([
    ['maxRunning', 0], ['prefillTokensPerSecond', -1], ['decodeStepMs', 0], ['blockCount', NaN],
    ['prefillInterference', 0.5], ['overheadMs', -1], ['transferTokensPerSecond', Infinity],
  ])('refuses %s = %d by name', (name, value) => {
    expect(() => completeTiming({ [name]: value })).toThrow(name)
  })

  it.each(['overheadMs', 'decodeStepMsPerSequence', 'transferMs', 'encodeMsPerItem'])('lets %s be 0', (name) => {
    expect(completeTiming({ [name]: 0 })).toMatchObject({ [name]: 0 })
  })
})
