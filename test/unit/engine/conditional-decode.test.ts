import { describe, expect, it } from 'vitest'
import { disaggregated } from '../../story/configuration.ts'
import { ended, joined, prompt, received } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'

const IF_AVAILABLE = [{ name: 'prefer', value: 'respond-async, if-available' }]

describe('a request that is to be served from a cache only', () => {
  it('is refused with 412 until an endpoint holds some of its prompt, and other requests never are', () => {
    const world = new World(disaggregated(100_000)).take(joined('a', 'decode'))
    const shape = { tokenized: true, prompts: [prompt(1024, [1, 2, 3])], problem: '' }
    const ask = (id: string, headers: { name: string; value: string }[]) => {
      const { key, decision } = world.request(received(id, { shape, headers }))
      if (decision.outcome === 'routed') world.take(ended(key))
      return [decision.outcome, decision.rejection?.status]
    }
    expect(ask('cold', IF_AVAILABLE)).toEqual(['rejected', 412])
    expect(world.inFlight()).toEqual({})
    // Being refused left nothing in the index.
    expect(ask('still cold', IF_AVAILABLE)).toEqual(['rejected', 412])
    expect(ask('warming', [])).toEqual(['routed', undefined])
    expect(ask('warm', IF_AVAILABLE)).toEqual(['routed', undefined])
  })
})
