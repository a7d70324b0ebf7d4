import { describe, expect, it } from 'vitest'
import { Chance } from '../../../src/scheduling/chance.ts'
import { isWhole, SlabRing } from '../../../src/scheduling/slab.ts'
import { joined, received } from '../../story/inputs.ts'
import { singleProfile } from '../../story/configuration.ts'
import { World } from '../../story/world.ts'

describe('what is kept of receipts', () => {
  it('is whole until its memory is needed again, and is never another one’s numbers', () => {
    const ring = new SlabRing(1)
    const first = ring.take(4)
    first.numbers.fill(9, first.offset, first.offset + 4)
    let next = ring.take(4)
    while (next.turn === first.turn) next = ring.take(4)
    expect(isWhole(first)).toBe(false)
    expect([isWhole(next), ...next.numbers.subarray(next.offset, next.offset + 4)]).toEqual([true, 0, 0, 0, 0])
  })

  it('may be larger than a slab, and then has memory of its own', () => {
    const ring = new SlabRing(1)
    const large = ring.take(10_000_000)
    for (let i = 0; i < 100; i += 1) ring.take(1000)
    expect([large.numbers.length, isWhole(large)]).toEqual([10_000_000, true])
  })

  it('is found by the position of its record, and is gone by age without a trace of a wrong one', () => {
    const world = new World(singleProfile()).take(joined('a'), joined('b'))
    const { key } = world.request(received('first'))
    expect(world.engine.receipts(key)).toMatchObject([{ position: key, requestId: 'first' }])
    expect(world.engine.receipts(key + 1)).toEqual([])
    for (let i = 0; i < 16_384; i += 1) world.engine.step(received(`r-${i}`), world.at)
    expect(world.engine.receipts(key)).toEqual([])
  })
})

describe('chance', () => {
  const draws = (seed: bigint, position: number, attempt: number, profile: string, plugin: string): readonly number[] => {
    const chance = new Chance()
    chance.seed(seed)
    chance.begin(position, attempt)
    chance.enter(profile)
    const die = chance.die(plugin)
    return [die.next(), die.next()]
  }

  it('depends on every part of its name, and on nothing else', () => {
    const named: Parameters<typeof draws> = [7n, 1, 1, 'decode', 'p']
    const others: readonly Parameters<typeof draws>[] = [[8n, 1, 1, 'decode', 'p'], [7n + (1n << 40n), 1, 1, 'decode', 'p'], [7n, 2, 1, 'decode', 'p'], [7n, 1, 2, 'decode', 'p'], [7n, 1, 1, 'prefill', 'p'], [7n, 1, 1, 'decode', 'q']]
    expect(draws(...named)).toEqual(draws(...named))
    for (const other of others) expect(draws(...other)).not.toEqual(draws(...named))
  })

  it('of one plugin is not shifted by what another draws, and all that was drawn in a run is noted', () => {
    const chance = new Chance()
    chance.begin(1, 1)
    chance.enter('p')
    const alone = chance.die('a').next()
    chance.enter('p')
    for (let i = 0; i < 5; i += 1) chance.die('b').next()
    expect(chance.die('a').next()).toBe(alone)
    expect(chance.drawn()).toHaveLength(6)
    chance.enter('p')
    expect(chance.drawn()).toEqual([])
  })
})
