import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Endpoint } from '../../../src/core/endpoint.ts'
import { Digest } from '../../../src/scheduling/digest.ts'

const endpoint = (life: number): Endpoint =>
  new Endpoint({ id: `default/e${life}`, address: '10.0.0.1', port: 8000, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '' }, life, life)

/** More lists than are remembered; some with the same lives, some with their lives in another order. */
const LISTS: readonly (readonly Endpoint[])[] = [[], [1], [1], [2], [1, 2], [2, 1], [1, 2, 3], [3, 1, 2], [1, 2, 3, 4]].map((lives) => lives.map(endpoint))

const digestOf = (digest: Digest, lists: readonly (readonly Endpoint[])[]): bigint => {
  digest.reset()
  for (const list of lists) digest.lives(list)
  return digest.value()
}

describe('Digest', () => {
  it('given lists in whatever order, when one digest takes them again and again, then it comes to what a new one comes to, whatever it met before', () => {
    const sequence = fc.array(fc.constantFrom(...LISTS), { maxLength: 8 })
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 12 }), (decisions) => {
        const used = new Digest()
        for (const lists of decisions) expect(digestOf(used, lists)).toBe(digestOf(new Digest(), lists.map((list) => [...list])))
      }),
    )
  })

  it('tells lists apart by their lives and by their order', () => {
    const digest = new Digest()
    const values = LISTS.map((list) => digestOf(digest, [list]))
    expect(values[1]).toBe(values[2])
    expect(new Set(values).size).toBe(LISTS.length - 1)
  })
})
