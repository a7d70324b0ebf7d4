import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EndpointModel } from '../../../../src/simulation/endpoint/model.ts'
import type { Work } from '../../../../src/simulation/endpoint/model.ts'
import { completeTiming } from '../../../../src/simulation/endpoint/timing.ts'
import type { EndpointTiming } from '../../../../src/simulation/endpoint/timing.ts'

/** Round figures: a prefill takes 10 ms + 1 ms per token, a decode step 100 ms, a transfer 5 ms + 0.1 ms per token. */
const TIMING = completeTiming({
  overheadMs: 10, prefillTokensPerSecond: 1000, decodeStepMs: 100, decodeStepMsPerSequence: 0, prefillInterference: 1,
  transferMs: 5, transferTokensPerSecond: 10_000, encodeMsPerItem: 60, maxRunning: 4, blockTokens: 16, blockCount: 100,
})

function given(timing: Partial<EndpointTiming> = {}): { model: EndpointModel; log: string[] } {
  const log: string[] = []
  const model = new EndpointModel({ ...TIMING, ...timing }, {
    admitted: (id, cached, at) => log.push(`${at} admitted ${id} cached ${cached}`),
    stored: () => undefined,
    evicted: () => undefined,
    token: (id, at) => log.push(`${at} token ${id}`),
    finished: (id, at) => log.push(`${at} finished ${id}`),
  })
  return { model, log }
}

function work(id: number, change: Partial<Work> = {}): Work {
  const promptTokens = change.promptTokens ?? 40
  const keys = Float64Array.from({ length: Math.floor(promptTokens / 16) }, (_, block) => id * 1000 + block)
  return { id, keys, promptTokens, outputTokens: 1, remotePrefill: false, media: [], remoteMedia: false, ...change }
}

describe('endpoint model', () => {
  it('gives the first token when the prefill ends and one more each step', () => {
    const { model, log } = given()
    model.submit(work(1, { outputTokens: 3 }), 0)
    model.advance(1000)
    expect(log).toEqual(['0 admitted 1 cached 0', '50 token 1', '150 token 1', '250 token 1', '250 finished 1'])
    expect(model.nextAt()).toBe(Infinity)
  })

  it('runs one prefill at a time, first come first served; who waits is counted as waiting', () => {
    const { model, log } = given()
    model.submit(work(1), 0)
    model.submit(work(2), 1)
    model.submit(work(3), 2)
    expect([model.running, model.waiting]).toEqual([1, 2])
    model.advance(1000)
    expect(log.filter((line) => line.includes('finished'))).toEqual(['50 finished 1', '100 finished 2', '150 finished 3'])
    expect([model.running, model.waiting]).toEqual([0, 0])
  })

  it('prefills only what is not cached, and always at least one token', () => {
    const { model, log } = given()
    const keys = Float64Array.of(1, 2)
    model.submit(work(1, { keys, promptTokens: 32 }), 0)
    model.advance(100)
    model.submit(work(2, { keys, promptTokens: 32 }), 100)
    model.submit(work(3, { keys: Float64Array.of(1, 2, 3), promptTokens: 50 }), 200)
    model.advance(1000)
    expect(log).toContain('100 admitted 2 cached 16')
    expect(log).toContain('126 finished 2')
    expect(log).toContain('200 admitted 3 cached 32')
    expect(log).toContain('228 finished 3')
  })

  it('decodes all sequences in one step; who joins during a step starts with the next', () => {
    const { model, log } = given({ decodeStepMsPerSequence: 10 })
    model.submit(work(1, { outputTokens: 3 }), 0)
    model.submit(work(2, { outputTokens: 2 }), 0)
    model.advance(10_000)
    expect(log.filter((line) => line.includes('token'))).toEqual(['50 token 1', '100 token 2', '150 token 1', '260 token 1', '260 token 2'])
  })

  it('slows decode steps that start while a prefill runs', () => {
    const { model, log } = given({ prefillInterference: 2 })
    model.submit(work(1, { outputTokens: 2 }), 0)
    model.submit(work(2), 0)
    model.advance(10_000)
    expect(log).toContain('100 finished 2')
    expect(log.at(-1)).toBe('150 finished 1')
    const later = given({ prefillInterference: 2 })
    later.model.submit(work(1, { outputTokens: 3 }), 0)
    later.model.advance(60)
    later.model.submit(work(2, { promptTokens: 500 }), 60)
    later.model.advance(10_000)
    expect(later.log.filter((line) => line.endsWith('token 1'))).toEqual(['50 token 1', '150 token 1', '350 token 1'])
  })

  it('fetches remote KV beside a running prefill and then only decodes', () => {
    const { model, log } = given()
    model.submit(work(1, { promptTokens: 500 }), 0)
    model.submit(work(2, { outputTokens: 2, remotePrefill: true }), 0)
    model.advance(10_000)
    expect(log.filter((line) => line.endsWith(' 2') && !line.includes('admitted'))).toEqual(['109 token 2', '209 token 2', '209 finished 2'])
    expect(log).toContain('510 finished 1')
  })

  it('fetches only the blocks that it has not cached', () => {
    const { model, log } = given()
    const keys = Float64Array.of(1, 2, 3, 4)
    model.submit(work(1, { keys, promptTokens: 65, remotePrefill: true }), 0)
    model.advance(1000)
    model.submit(work(2, { keys, promptTokens: 65, remotePrefill: true }), 1000)
    model.advance(2000)
    expect(log).toContain('1000 admitted 2 cached 64')
    expect(log).toContain('1105.1 finished 2')
  })

  it('admits no more sequences than may run', () => {
    const { model } = given({ maxRunning: 2 })
    for (const id of [1, 2, 3]) model.submit(work(id, { outputTokens: 50 }), 0)
    model.advance(500)
    expect([model.running, model.waiting]).toEqual([2, 1])
  })

  it('lets a sequence wait for KV blocks until they are free, and nobody overtakes it', () => {
    const { model, log } = given({ blockCount: 6 })
    model.submit(work(1, { outputTokens: 20 }), 0)
    model.submit(work(2, { promptTokens: 80 }), 0)
    model.submit(work(3, { promptTokens: 10 }), 0)
    model.advance(1000)
    expect([model.running, model.waiting, model.usedBlocks]).toEqual([1, 2, 4])
    model.advance(10_000)
    expect(log.filter((line) => line.includes('admitted'))).toEqual(['0 admitted 1 cached 0', '1950 admitted 2 cached 0', '2040 admitted 3 cached 0'])
  })

  it('says what can never be admitted', () => {
    const { model } = given({ blockCount: 4 })
    expect(model.exceeds(63, 1)).toBe(false)
    expect(model.exceeds(64, 1)).toBe(true)
  })

  it.each([
    ['waiting', 2, 0], ['in its prefill', 1, 10], ['decoding', 1, 60],
  ])('frees everything at once when a sequence is aborted while %s', (_when, id, atMs) => {
    const { model, log } = given()
    model.submit(work(1, { outputTokens: 5 }), 0)
    model.submit(work(2, { outputTokens: 5 }), 0)
    model.advance(atMs)
    const before = model.usedBlocks
    expect(model.abort(id, atMs)).toBe(true)
    expect(model.abort(id, atMs)).toBe(false)
    expect(model.usedBlocks).toBeLessThanOrEqual(before)
    model.advance(10_000)
    const left = log.filter((line) => line.includes(`token ${id}`) && Number(line.split(' ')[0]) > atMs)
    expect(left).toEqual([])
    expect([model.running, model.waiting, model.usedBlocks]).toEqual([0, 0, 0])
  })

  it('hands the prefill unit to the next when the one in it is aborted', () => {
    const { model, log } = given()
    model.submit(work(1), 0)
    model.submit(work(2), 0)
    model.abort(1, 20)
    model.advance(1000)
    expect(log).toEqual(['0 admitted 1 cached 0', '20 admitted 2 cached 0', '70 token 2', '70 finished 2'])
  })

  it('frees the KV of a sequence aborted during its transfer', () => {
    const { model } = given()
    model.submit(work(1, { remotePrefill: true }), 0)
    expect(model.usedBlocks).toBe(3)
    model.abort(1, 1)
    expect([model.usedBlocks, model.nextAt()]).toEqual([0, Infinity])
  })

  it('encodes each media item once, holding no KV for an encode leg', () => {
    const { model, log } = given()
    const leg = { promptTokens: 0, keys: new Float64Array(0) }
    model.submit(work(1, { ...leg, media: [7] }), 0)
    expect(model.usedBlocks).toBe(0)
    model.advance(100)
    model.submit(work(2, { ...leg, media: [7] }), 100)
    model.advance(200)
    model.submit(work(3, { ...leg, media: [8] }), 200)
    model.advance(1000)
    expect(log.filter((line) => line.includes('finished'))).toEqual(['70 finished 1', '110 finished 2', '270 finished 3'])
  })

  it('fetches media that encoders have prepared instead of encoding it', () => {
    const { model, log } = given()
    model.submit(work(1, { media: [7, 8], remoteMedia: true }), 0)
    model.advance(1000)
    expect(log.at(-1)).toBe('55 finished 1')
  })

  it('finishes work without output when its prefill ends', () => {
    const { model, log } = given()
    model.submit(work(1, { outputTokens: 0 }), 0)
    model.advance(1000)
    expect(log).toEqual(['0 admitted 1 cached 0', '50 finished 1'])
  })

  it('stretches what starts after it was made slow', () => {
    const { model, log } = given()
    model.submit(work(1, { outputTokens: 2 }), 0)
    model.slowFactor = 10
    model.advance(10_000)
    expect(log.filter((line) => line.includes('token'))).toEqual(['50 token 1', '1050 token 1'])
  })

  it('keeps its bounds and its promises whatever comes, and is empty in the end', () => {
    const move = fc.record({
      afterMs: fc.nat(200), promptTokens: fc.integer({ min: 1, max: 200 }), outputTokens: fc.integer({ min: 1, max: 6 }),
      remotePrefill: fc.boolean(), family: fc.nat(2), abort: fc.option(fc.nat(20), { nil: undefined }),
    })
    fc.assert(fc.property(fc.array(move, { maxLength: 25 }), (moves) => {
      const tokens = new Map<number, number>()
      const finished = new Set<number>()
      let lastMs = 0
      const model = new EndpointModel({ ...TIMING, maxRunning: 3, blockCount: 20 }, {
        stored: () => undefined,
      evicted: () => undefined,
      admitted: (_id, cached) => expect(cached).toBeGreaterThanOrEqual(0),
        token: (id, at) => {
          expect(at).toBeGreaterThanOrEqual(lastMs)
          lastMs = at
          tokens.set(id, (tokens.get(id) ?? 0) + 1)
        },
        finished: (id) => void finished.add(id),
      })
      const aborted = new Set<number>()
      let nowMs = 0
      for (const [id, { afterMs, promptTokens, outputTokens, remotePrefill, family, abort }] of moves.entries()) {
        nowMs += afterMs
        const keys = Float64Array.from({ length: Math.floor(promptTokens / 16) }, (_, block) => family * 1000 + block + 1)
        model.submit(work(id, { promptTokens, outputTokens, remotePrefill, keys }), nowMs)
        if (abort !== undefined && model.abort(abort, nowMs)) aborted.add(abort)
        expect(model.running).toBeLessThanOrEqual(3)
        expect(model.usedBlocks).toBeLessThanOrEqual(20)
        expect(model.waiting).toBeGreaterThanOrEqual(0)
      }
      model.advance(1e9)
      expect([model.running, model.waiting, model.usedBlocks, model.nextAt()]).toEqual([0, 0, 0, Infinity])
      for (const [id, { outputTokens }] of moves.entries()) {
        expect(finished.has(id)).toBe(!aborted.has(id))
        if (finished.has(id)) expect(tokens.get(id)).toBe(outputTokens)
      }
    }))
  })
})
