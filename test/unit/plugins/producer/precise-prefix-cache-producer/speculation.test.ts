import { describe, expect, it } from 'vitest'
import { Speculation } from '../../../../../src/plugins/producer/precise-prefix-cache-producer/speculation.ts'

const batch = (slot: number, until: number, keys = 1) => ({ slot, until, words: new Int32Array(2 * keys) })

describe('Speculation', () => {
  it('given batches, when their time is over, then they end, oldest first, and not before', () => {
    const speculation = new Speculation()
    const [a, b] = [batch(0, 10), batch(1, 20)]
    speculation.add(a)
    speculation.add(b)
    expect(speculation.takeEnded(9)).toBeUndefined()
    expect(speculation.takeEnded(10)).toBe(a)
    expect(speculation.takeEnded(10)).toBeUndefined()
    expect(speculation.pending).toEqual([b])
  })

  it('given more keys than are kept, when looked at, then the oldest batches end before their time', () => {
    const speculation = new Speculation()
    const many = batch(0, 1_000_000, 1_048_576)
    speculation.add(many)
    expect(speculation.takeEnded(0)).toBeUndefined()
    speculation.add(batch(1, 1_000_000))
    expect(speculation.takeEnded(0)).toBe(many)
    expect(speculation.takeEnded(0)).toBeUndefined()
  })

  it('given an endpoint that is gone, when it is forgotten, then the others stay, and many batches later too', () => {
    const speculation = new Speculation()
    for (let n = 0; n < 3000; n++) speculation.add(batch(n % 2, n))
    while (speculation.takeEnded(2500) !== undefined) continue
    expect(speculation.pending).toHaveLength(499)
    speculation.forget(0)
    expect(speculation.pending.map(({ slot }) => slot)).toEqual(Array<number>(250).fill(1))
  })
})
