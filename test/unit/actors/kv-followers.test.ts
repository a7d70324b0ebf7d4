import { VirtualTimeScheduler } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { KvFollowers } from '../../../src/actors/kv-followers.ts'
import type { KvChange, KvReport } from '../../../src/wire/index.ts'

const ROOT = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
const keys = (count: number): Uint8Array => new Uint8Array(8 * count)
const stored = (count: number): KvChange => ({ kind: 'stored', keys: keys(count), tier: 'gpu' })

/** Followers of one endpoint, with all that they tell as words. */
const given = ({ holds = false } = {}) => {
  const clock = new VirtualTimeScheduler()
  const told: string[] = []
  const followers = new KvFollowers({
    naming: { hash: 'cbor-fnv', blockTokens: 16, root: ROOT },
    clock,
    submit: ({ input }) => {
      if (input?.kind === 'kvBlocksStored') told.push(`stored ${input.value.keys.length / 8}`)
      if (input?.kind === 'kvBlocksRemoved') told.push(`removed ${input.value.keys.length / 8}`)
      if (input?.kind === 'kvBlocksCleared') told.push('cleared')
    },
    holds: () => holds,
    want: (_endpoint, incarnation, sequence) => told.push(`want ${incarnation} ${sequence}`),
    fault: (_endpoint, fault) => told.push(fault),
    skipped: (kind) => told.push(`skipped ${kind}`),
  })
  const report = (more: Partial<KvReport>): KvReport =>
    ({ endpoint: 'e', incarnation: 'one', sequence: 1, part: 0, parts: 0, hash: 'cbor-fnv', blockTokens: 16, root: ROOT, changes: [], ...more })
  const take = (more: Partial<KvReport>): void => followers.reported(report(more))
  const pass = (ms: number): void => {
    clock.maxFrames = clock.now() + ms
    clock.flush()
  }
  /** What was told since it was asked last. */
  const news = (): readonly string[] => told.splice(0)
  const synced = (sequence = 1): void => {
    followers.follow([{ id: 'e', incarnation: 'one' }])
    take({ sequence, part: 1, parts: 1, changes: [stored(3)] })
    news()
  }
  return { followers, take, pass, news, synced }
}

describe('KvFollowers', () => {
  it('given an endpoint, when followed, then all is asked for, and taken part by part', () => {
    const { followers, take, news } = given()
    followers.follow([{ id: 'e', incarnation: 'one' }])
    expect(news()).toEqual(['want one 0'])
    expect(followers.waiting).toBe(1)
    take({ sequence: 7, part: 1, parts: 2, changes: [stored(3)] })
    expect(followers.waiting).toBe(1)
    take({ sequence: 7, part: 2, parts: 2, changes: [stored(2)] })
    take({ sequence: 8, changes: [{ kind: 'removed', keys: keys(1), tier: 'gpu' }] })
    expect(news()).toEqual(['stored 3', 'stored 2', 'removed 1'])
    expect(followers.waiting).toBe(0)
  })

  it('given what an earlier run knew, when followed, then it is cleared first', () => {
    const { followers, news } = given({ holds: true })
    followers.follow([{ id: 'e', incarnation: 'one' }])
    expect(news()).toEqual(['cleared', 'want one 0'])
  })

  it('given changes twice and out of order, then each is taken once; what came before its predecessor is a gap', () => {
    const { followers, take, news, synced } = given()
    synced()
    take({ sequence: 2, changes: [stored(1)] })
    take({ sequence: 2, changes: [stored(1)] })
    expect(news()).toEqual(['stored 1'])
    expect(followers.repeated).toBe(1)
    take({ sequence: 4, changes: [stored(1)] })
    take({ sequence: 3, changes: [stored(1)] })
    expect(news()).toEqual(['gap', 'cleared', 'want one 0'])
    take({ sequence: 4, part: 1, parts: 1, changes: [stored(5)] })
    expect(news()).toEqual(['stored 5'])
  })

  it('given one who knows all, when another asked for it, then it changes nothing', () => {
    const { take, news, synced } = given()
    synced(5)
    take({ sequence: 5, part: 1, parts: 2, changes: [stored(3)] })
    take({ sequence: 5, part: 2, parts: 2, changes: [stored(3)] })
    take({ sequence: 6, changes: [stored(1)] })
    expect(news()).toEqual(['stored 1'])
  })

  it('given all that is held as of a later change, then what was known is replaced by it', () => {
    const { take, news, synced } = given()
    synced(5)
    take({ sequence: 9, part: 1, parts: 1, changes: [stored(2)] })
    expect(news()).toEqual(['gap', 'cleared', 'stored 2'])
  })

  it.each<readonly [what: string, next: Partial<KvReport>]>([
    ['a part is missing', { sequence: 5, part: 3, parts: 3, changes: [stored(1)] }],
    ['a change comes between', { sequence: 6, changes: [stored(1)] }],
  ])('given all is told in parts, when %s, then it is cleared and asked for anew', (_what, next) => {
    const { followers, take, news } = given()
    followers.follow([{ id: 'e', incarnation: 'one' }])
    take({ sequence: 5, part: 1, parts: 3, changes: [stored(2)] })
    take(next)
    expect(news()).toEqual(['want one 0', 'stored 2', 'gap', 'cleared', 'want one 0'])
    expect(followers.waiting).toBe(1)
  })

  it('given an agent that does not answer, then it is asked every two seconds until it does', () => {
    const { followers, take, pass, news } = given()
    followers.follow([{ id: 'e', incarnation: 'one' }])
    pass(6100)
    expect(news()).toEqual(['want one 0', 'want one 0', 'want one 0', 'want one 0'])
    take({ sequence: 1, part: 1, parts: 1 })
    pass(4000)
    expect(news()).toEqual([])
    followers.close()
  })

  it('given messages that may have been missed, when the agent tells a change of nothing, then all is well', () => {
    const { followers, take, pass, news, synced } = given()
    synced(5)
    followers.doubt()
    expect(news()).toEqual(['want one 5'])
    take({ sequence: 6, changes: [{ kind: 'stored', keys: keys(0), tier: '' }] })
    pass(4000)
    expect(news()).toEqual([])
    followers.close()
  })

  it('given another life, an endpoint that is not followed, and other names of blocks, then nothing is taken', () => {
    const { followers, take, news, synced } = given()
    synced()
    take({ sequence: 2, incarnation: 'two', changes: [stored(1)] })
    take({ sequence: 2, endpoint: 'f', changes: [stored(1)] })
    take({ sequence: 2, blockTokens: 64, changes: [stored(1), { kind: 'cleared', keys: keys(0), tier: '' }, { kind: 'removed', keys: keys(1), tier: 'gpu' }] })
    take({ sequence: 2, hash: 'xxh64', changes: [stored(1)] })
    take({ sequence: 2, root: Uint8Array.of(8, 7, 6, 5, 4, 3, 2, 1), changes: [stored(1)] })
    expect(news()).toEqual([
      'unknown-endpoint', 'unknown-endpoint',
      'skipped stored', 'skipped removed', 'other-naming', 'skipped stored', 'other-naming', 'skipped stored', 'other-naming',
    ])
    followers.follow([{ id: 'e', incarnation: 'two' }])
    expect(news()).toEqual(['want two 0'])
    followers.follow([])
    expect(followers.waiting).toBe(0)
  })

  it('given many keys in one change, then no input has more than a turn can take', () => {
    const { take, news, synced } = given()
    synced()
    take({ sequence: 2, changes: [stored(10_000), { kind: 'cleared', keys: keys(0), tier: '' }] })
    expect(news()).toEqual(['stored 4096', 'stored 4096', 'stored 1808', 'cleared'])
  })
})
