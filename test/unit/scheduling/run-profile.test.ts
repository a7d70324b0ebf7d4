import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Filter, Picker, Scorer } from '../../../src/core/contract.ts'
import type { Endpoint } from '../../../src/core/endpoint.ts'
import { Chance } from '../../../src/scheduling/chance.ts'
import { Digest } from '../../../src/scheduling/digest.ts'
import type { Profile } from '../../../src/scheduling/profile.ts'
import { digestRun, profileDecision, writeReceipt } from '../../../src/scheduling/receipt.ts'
import { errorOf, resultOf, runProfile } from '../../../src/scheduling/run-profile.ts'
import { SlabRing } from '../../../src/scheduling/slab.ts'
import { emptyDecision } from '../../../src/wire/decision.ts'
import { endpoint, request } from '../plugins/given.ts'

const [a, b, c] = ['a', 'b', 'c'].map((name) => endpoint(name)) as [Endpoint, Endpoint, Endpoint]
const all = [a, b, c]

const scorer = (name: string, scores: readonly number[]): Scorer => ({
  typedName: { type: name, name }, category: 'balance', score: (_request, candidates, out) => scores.forEach((score, i) => { if (i < candidates.length) out[i] = score }),
})
const keep = (name: string, ...kept: readonly Endpoint[]): Filter => ({ typedName: { type: name, name }, filter: (_request, candidates) => candidates.filter((each) => kept.includes(each)) })
const best: Picker = {
  typedName: { type: 'best', name: 'best' },
  pick: (_request, { endpoints, totals }, die) => {
    const most = Math.max(...endpoints.map((_, i) => totals[i] ?? 0))
    const tied = endpoints.filter((_, i) => totals[i] === most)
    return [tied[tied.length > 1 ? die.below(tied.length) : 0] as Endpoint]
  },
}
const profile = (more: Partial<Profile>): Profile => ({ name: 'default', filters: [], scorers: [], picker: best, ...more })

const context = (): { readonly slabs: SlabRing; readonly chance: Chance; now(): number } => {
  const chance = new Chance()
  chance.seed(7n)
  chance.begin(1, 1)
  return { slabs: new SlabRing(1 << 16), chance, now: () => 5_000_000 }
}

const run = (more: Partial<Profile>, candidates: readonly Endpoint[] = all): ReturnType<typeof runProfile> => runProfile(profile(more), 'decode', request(), candidates, context())

describe('a profile', () => {
  it('sums what its scorers say times their weights, in order, and tells the margin to the best of the others', () => {
    const done = run({ scorers: [{ scorer: scorer('x', [0.5, 1, 0]), weight: 2 }, { scorer: scorer('y', [0.25, 0, 1]), weight: -1 }] })
    expect(done.picks).toEqual([b])
    expect(profileDecision(done)).toMatchObject({ picks: [{ endpoint: 'default/b', score: 2 }], margin: 1.25, runnerUp: 'default/a', ties: 1, candidates: 3, survivors: 3 })
  })

  it.each([[NaN, 0], [Infinity, 1], [-Infinity, 0], [7, 1], [-3, 0], [undefined, 0]])('counts a score of %s as %s', (score, counted) => {
    const done = run({ scorers: [{ scorer: scorer('x', score === undefined ? [] : [score]), weight: 3 }] }, [a])
    expect(done.scores).toEqual([3 * counted])
  })

  it('offers each filter what the one before left, and asks no more when nobody is left', () => {
    const asked: number[] = []
    const counting: Filter = { typedName: { type: 'n', name: 'n' }, filter: (_request, candidates) => { asked.push(candidates.length); return candidates } }
    const done = run({ filters: [keep('ab', a, b), counting, keep('none'), counting], scorers: [{ scorer: scorer('x', [1]), weight: 1 }] })
    expect(asked).toEqual([2])
    expect([done.picks, resultOf(done)]).toEqual([[], null])
    expect(errorOf(done).denial).toMatchObject({ status: 429, message: expect.stringContaining('no') as string })
  })

  it('fails where its picker picks nobody', () => {
    const done = run({ picker: { typedName: { type: 'p', name: 'p' }, pick: () => [] } })
    expect(errorOf(done).denial).toMatchObject({ status: 500, message: 'picker p picked nothing' })
  })

  it('draws among ties from a stream of its own name: again the same, under another name another', () => {
    const tie = { scorers: [{ scorer: scorer('x', [1, 1, 1]), weight: 1 }] }
    const draws = (more: Partial<Profile>): readonly number[] => run({ ...tie, ...more }).draws
    expect(draws({})).toEqual(draws({}))
    expect(draws({})).not.toEqual(draws({ name: 'other' }))
    expect(run(tie).ties).toBe(3)
  })

  it('writes a receipt in which every number of the run is', () => {
    a.heardAt = 4_999_000
    const done = run({ filters: [keep('ab', a, b)], scorers: [{ scorer: scorer('x', [0.5, NaN]), weight: 2 }] })
    const decision = { ...emptyDecision(), profiles: [profileDecision(done)] }
    const receipt = writeReceipt({ position: 3, atUs: 5_000_000, request: 3, requestId: 'r', attempt: 1, runs: [done], deciders: [], excluded: [], notes: ['n'], pairs: [], decision })
    expect(receipt).toMatchObject({ position: 3, notes: ['n'], profiles: [{
      candidates: ['default/a', 'default/b', 'default/c'], filters: [{ plugin: 'ab', removed: ['default/c'] }], survivors: ['default/a', 'default/b'],
      scorers: [{ plugin: 'x', weight: 2, raw: [0.5, NaN] }], totals: [1, 0], picker: 'best', metricAgesUs: [1000, -1],
    }] })
    a.heardAt = 0
  })

  it('has a digest that tells any other score, survivor or order', () => {
    const digest = (scores: readonly number[], candidates: readonly Endpoint[] = all, filters: readonly Filter[] = []): bigint => {
      const of = new Digest()
      digestRun(of, run({ filters, scorers: [{ scorer: scorer('x', scores), weight: 1 }] }, candidates))
      return of.value()
    }
    const same = digest([0.1, 0.2, 0.3])
    expect(digest([0.1, 0.2, 0.3])).toBe(same)
    for (const other of [digest([0.1, 0.2, 0.30000000000000004]), digest([0.2, 0.1, 0.3]), digest([0.1, 0.2, 0.3], [a, c, b]), digest([0.1, 0.2, 0.3], [a, b]), digest([0.1, 0.2, 0.3], all, [keep('abc', a, b, c)])]) expect(other).not.toBe(same)
    expect(digest([NaN, -0, 0])).not.toBe(digest([NaN, 0, 0]))
  })

  it('picks the same whatever the order in which slabs are reused', () => {
    fc.assert(fc.property(fc.array(fc.array(fc.double({ min: 0, max: 1 }), { minLength: 3, maxLength: 3 }), { maxLength: 40 }), (rounds) => {
      const shared = context()
      for (const scores of rounds) {
        const of = profile({ scorers: [{ scorer: scorer('x', scores), weight: 1 }] })
        shared.chance.begin(1, 1)
        const fresh = context()
        expect(runProfile(of, 'decode', request(), all, shared).scores).toEqual(runProfile(of, 'decode', request(), all, fresh).scores)
      }
    }), { numRuns: 20 })
  })
})
