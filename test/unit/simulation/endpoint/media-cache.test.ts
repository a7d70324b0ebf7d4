import { describe, expect, it } from 'vitest'
import { MediaCache } from '../../../../src/simulation/endpoint/media-cache.ts'

describe('media cache', () => {
  it('counts what is new and forgets the least recently used first', () => {
    const cache = new MediaCache(2)
    expect(cache.take([1, 2])).toBe(2)
    expect(cache.take([1])).toBe(0)
    expect(cache.take([3])).toBe(1)
    expect(cache.take([1, 3])).toBe(0)
    expect(cache.take([2])).toBe(1)
  })
})
