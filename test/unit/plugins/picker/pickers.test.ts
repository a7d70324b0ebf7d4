import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Picker, PluginType } from '../../../../src/core/contract.ts'
import type { Endpoint } from '../../../../src/core/endpoint.ts'
import { SeededStream, type RandomStream } from '../../../../src/core/random.ts'
import { maxScorePicker } from '../../../../src/plugins/picker/max-score-picker/index.ts'
import { randomPicker } from '../../../../src/plugins/picker/random-picker/index.ts'
import { weightedRandomPicker } from '../../../../src/plugins/picker/weighted-random-picker/index.ts'
import { context, endpoint, make, request, ScriptedDie } from '../given.ts'

const ENDPOINTS = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => endpoint(name))
const PICKERS = [maxScorePicker, randomPicker, weightedRandomPicker]

const names = (endpoints: readonly Endpoint[]): string => endpoints.map(({ id }) => id.replace('default/', '')).join('')

const picks = (type: PluginType, totals: readonly number[], die: RandomStream, atMost = 1): string =>
  names(make<Picker>(type, { maxNumOfEndpoints: atMost }).pick(request(), { endpoints: ENDPOINTS.slice(0, totals.length), totals: new Float64Array(totals) }, die))

const stream = (position: number): RandomStream => new SeededStream([]).begin(1, 2, position, 1, 'default', 'picker')

const shares = (type: PluginType, totals: readonly number[], draws: number): Map<string, number> => {
  const counts = new Map<string, number>()
  for (let position = 0; position < draws; position++) {
    const name = picks(type, totals, stream(position))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

describe('max-score-picker', () => {
  it('given one best, takes it without drawing', () => expect(picks(maxScorePicker, [1, 3, 2], new ScriptedDie())).toBe('b'))

  it('given equals, lets the die decide among them alone', () => {
    expect(picks(maxScorePicker, [3, 1, 3, 3], new ScriptedDie(0))).toBe('a')
    expect(picks(maxScorePicker, [3, 1, 3, 3], new ScriptedDie(0.5))).toBe('c')
    expect(picks(maxScorePicker, [3, 1, 3, 3], new ScriptedDie(0.99))).toBe('d')
  })

  it('gives each of four equals about a quarter', () => {
    for (const [, count] of shares(maxScorePicker, [1, 1, 1, 1], 2000)) expect(Math.abs(count - 500)).toBeLessThan(100)
  })

  it('gives the best first when more are wanted, and all when there are fewer', () => {
    expect(picks(maxScorePicker, [1, 3, 2], stream(1), 2)).toBe('bc')
    expect(picks(maxScorePicker, [1, 3, 2], stream(1), 9)).toBe('bca')
  })

  it('puts what is not a number last', () => {
    expect(picks(maxScorePicker, [NaN, 1, NaN, 2], new ScriptedDie())).toBe('d')
    expect(picks(maxScorePicker, [NaN, 1, NaN, 2], stream(1), 2)).toBe('db')
  })
})

describe('random-picker', () => {
  it('ignores the totals', () => {
    const counts = shares(randomPicker, [100, 0, -5], 3000)
    for (const name of ['a', 'b', 'c']) expect(Math.abs((counts.get(name) ?? 0) - 1000)).toBeLessThan(150)
  })

  it('gives different endpoints when more are wanted', () => {
    fc.assert(fc.property(fc.nat(1000), (position) => {
      expect(new Set(picks(randomPicker, [0, 0, 0, 0], stream(position), 3)).size).toBe(3)
    }))
  })
})

describe('weighted-random-picker', () => {
  it('picks in proportion to the totals', () => {
    const counts = shares(weightedRandomPicker, [1, 3], 4000)
    expect(Math.abs((counts.get('b') ?? 0) / 4000 - 0.75)).toBeLessThan(0.03)
  })

  it('takes a total of 0 or less only after all others', () => {
    fc.assert(fc.property(fc.nat(1000), (position) => {
      expect(picks(weightedRandomPicker, [0, 1, -1, 1], stream(position), 4).slice(0, 2)).toMatch(/^(bd|db)$/)
    }))
  })

  it('picks any when none is above 0', () => {
    expect(new Set(Array.from({ length: 100 }, (_, position) => picks(weightedRandomPicker, [0, 0, -1], stream(position)))).size).toBe(3)
  })

  it('compares keys that are too small for a double as powers', () => {
    // 0.5^(1/1e-5) is 0 in a double; the logarithms still differ.
    expect(picks(weightedRandomPicker, [1e-5, 2e-5], new ScriptedDie(0.5))).toBe('b')
  })

  it('never picks nothing, whatever is drawn', () => {
    fc.assert(fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (draw) => {
      expect(picks(weightedRandomPicker, [20, 80], new ScriptedDie(draw))).toMatch(/^[ab]$/)
    }))
  })
})

describe('all pickers', () => {
  it('take 1 for a bound that is not positive, and say so', () => {
    for (const type of PICKERS) {
      const given = context({ maxNumOfEndpoints: 0 })
      expect((type.create(given) as { maxNumOfEndpoints?: number }).maxNumOfEndpoints).toBe(1)
      expect(given.warnings).toHaveLength(1)
    }
  })

  it('refuse parameters that they do not know', () => {
    for (const type of PICKERS) expect(() => make(type, { max: 2 })).toThrow(`failed to parse the parameters of the '${type.type}' picker`)
  })

  it('give the same for the same stream', () => {
    for (const type of PICKERS) expect(picks(type, [1, 1, 1, 1], stream(7), 3)).toBe(picks(type, [1, 1, 1, 1], stream(7), 3))
  })
})
