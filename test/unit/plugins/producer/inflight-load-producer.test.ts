import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { IN_FLIGHT_LOAD, PREFIX_CACHE_MATCH_INFO } from '../../../../src/core/attribute.ts'
import type { Endpoint } from '../../../../src/core/endpoint.ts'
import type { Request, SchedulingResult } from '../../../../src/core/request.ts'
import { inflightLoadProducer, type InFlightLoadProducer } from '../../../../src/plugins/producer/inflight-load-producer/index.ts'
import { Desk, endpoint, make, request, step } from '../given.ts'

const sent = (profiles: Readonly<Record<string, Endpoint>>, primary = 'decode'): SchedulingResult => ({
  primary,
  results: new Map(Object.entries(profiles).map(([profile, target]) => [profile, { endpoints: [target] }])),
})

const producer = (parameters: unknown = {}, desk = new Desk()): InFlightLoadProducer => make(inflightLoadProducer, parameters, desk)

const load = (of: InFlightLoadProducer, ...endpoints: Endpoint[]): string => endpoints.map((one) => `${of.requestsOn(one.id)}/${of.tokensOn(one.id)}`).join(' ')

describe('release: documented', () => {
  it('with output counted, the prompt goes with the first chunk and the rest at the end', () => {
    const p = endpoint('p')
    const d = endpoint('d')
    const one = producer({ addEstimatedOutputTokens: true })
    const r = request({ tokens: 4 })
    one.preRequest(r, sent({ prefill: p, decode: d }))
    expect(load(one, p, d)).toBe('1/10 1/10')
    one.responseBody(r, step(true, false))
    expect(load(one, p, d)).toBe('1/6 1/6')
    one.responseBody(r, step(false, true))
    expect(load(one, p, d)).toBe('0/0 0/0')
  })

  it('without, all tokens go with the first chunk and the requests at the end, also of prefill', () => {
    const p = endpoint('p')
    const d = endpoint('d')
    const one = producer()
    const r = request({ tokens: 4 })
    one.preRequest(r, sent({ prefill: p, decode: d }))
    expect(load(one, p, d)).toBe('1/4 1/4')
    one.responseBody(r, step(true, false))
    expect(load(one, p, d)).toBe('1/0 1/0')
    one.responseBody(r, step(false, true))
    expect(load(one, p, d)).toBe('0/0 0/0')
  })

  it('is the default, and the other word is refused', () => {
    expect(producer().settings.release).toBe('documented')
    expect(() => producer({ release: 'both' })).toThrow('release must be "documented" or "llm-d", got "both"')
  })
})

describe('what is counted', () => {
  it('tells requests apart by their key, whatever id the client gave', () => {
    const a = endpoint('a')
    const one = producer()
    const [first, second] = [request({ id: 'same', tokens: 4 }), request({ id: 'same', tokens: 6 })]
    one.preRequest(first, sent({ decode: a }))
    one.preRequest(second, sent({ decode: a }))
    expect(load(one, a)).toBe('2/10')
    one.responseBody(first, step(false, true))
    expect(load(one, a)).toBe('1/6')
    one.responseBody(second, step(false, true))
    expect(load(one, a)).toBe('0/0')
  })

  it('moves a retried request from one endpoint to the other', () => {
    const [a, b] = [endpoint('a'), endpoint('b')]
    const one = producer()
    const r = request({ tokens: 4 })
    one.preRequest(r, sent({ decode: a }))
    one.responseBody(r, step(false, true))
    one.preRequest(r, sent({ decode: b }))
    expect(load(one, a, b)).toBe('0/0 1/4')
  })

  it('sees an end without a beginning, and changes nothing', () => {
    const desk = new Desk()
    const one = producer({}, desk)
    one.responseBody(request(), step(false, true))
    expect(desk.metric('inflight_unmatched_releases_total', { producer_name: 'inflight-load-producer' })).toBe(1)
  })
})

describe('peers', () => {
  const assignment = (target: Endpoint, key: number, incarnation = '') =>
    ({ request: key, attempt: 1, profile: 'decode', endpoint: target.id, incarnation, promptTokens: 3, outputTokens: 2, blocks: [] }) as const

  it('count in the attribute, and in no counter of this replica', () => {
    const desk = new Desk()
    const one = producer({}, desk)
    const a = endpoint('a')
    one.preRequest(request({ tokens: 4 }), sent({ decode: a }))
    one.peerLoad({ replica: 'r2', opens: false, assigned: [assignment(a, 1), assignment(a, 2)], released: [] })
    expect(desk.reader(IN_FLIGHT_LOAD).get(a)).toEqual({ requests: 3, tokens: 14 })
    expect(load(one, a)).toBe('1/4')
    one.peerLoad({ replica: 'r2', opens: false, assigned: [], released: [{ request: 1, attempt: 1, profile: 'decode' }] })
    expect(desk.reader(IN_FLIGHT_LOAD).get(a)).toEqual({ requests: 2, tokens: 9 })
    one.peerGone('r2')
    expect(desk.reader(IN_FLIGHT_LOAD).get(a)).toEqual({ requests: 1, tokens: 4 })
  })

  it('replace what they hold when they open again, and count no assignment twice', () => {
    const desk = new Desk()
    const one = producer({}, desk)
    const a = endpoint('a')
    one.peerLoad({ replica: 'r2', opens: true, assigned: [assignment(a, 1), assignment(a, 1)], released: [] })
    one.peerLoad({ replica: 'r2', opens: true, assigned: [assignment(a, 9)], released: [{ request: 5, attempt: 1, profile: 'decode' }] })
    expect(desk.reader(IN_FLIGHT_LOAD).get(a)).toEqual({ requests: 1, tokens: 5 })
  })

  it('are kept for an endpoint that has not joined, in the life that they name', () => {
    const desk = new Desk()
    const one = producer({}, desk)
    one.peerLoad({ replica: 'r2', opens: true, assigned: [assignment(endpoint('late'), 1, 'life-2')], released: [] })
    expect(desk.reader(IN_FLIGHT_LOAD).get(endpoint('late', { incarnation: 'life-1' }))).toEqual({ requests: 0, tokens: 0 })
    expect(desk.reader(IN_FLIGHT_LOAD).get(endpoint('late', { incarnation: 'life-2' }))).toEqual({ requests: 1, tokens: 5 })
  })

  it('do not count when the parameter says so', () => {
    const desk = new Desk()
    const one = producer({ syncCrossReplicaState: false }, desk)
    const a = endpoint('a')
    one.peerLoad({ replica: 'r2', opens: true, assigned: [assignment(a, 1)], released: [] })
    expect(desk.reader(IN_FLIGHT_LOAD).get(a)).toEqual({ requests: 0, tokens: 0 })
  })
})

describe('saving and loading', () => {
  it('gives back the same counts, also of endpoints that have left', () => {
    const [a, gone] = [endpoint('a'), endpoint('gone')]
    const one = producer({ addEstimatedOutputTokens: true })
    const [first, second] = [request({ tokens: 4, fairnessId: 'f', priority: 2 }), request({ tokens: 8 })]
    one.preRequest(first, sent({ decode: a, prefill: gone }))
    one.preRequest(second, sent({ decode: a }))
    one.responseBody(first, step(true, false))
    one.endpointRemoved(gone)
    const desk = new Desk()
    const other = producer({ addEstimatedOutputTokens: true }, desk)
    other.load(one.save(), [a])
    expect(other.save()).toEqual(one.save())
    expect(load(other, a)).toBe(load(one, a))
    expect(desk.metric('inflight_tokens', { endpoint_name: 'a', namespace: 'default', producer_name: 'inflight-load-producer', fairness_id: 'f', priority: '2' })).toBe(6)
    for (const r of [first, second]) other.responseBody(r, step(false, true))
    expect(load(other, a)).toBe('0/0')
  })

  it('refuses bytes that it did not write', () => {
    for (const bytes of ['', '[]', 'null', '{"seen":[]}']) expect(() => producer().load(new TextEncoder().encode(bytes), [])).toThrow('cannot be read')
  })
})

type Move = { readonly kind: 'send' | 'start' | 'end' | 'leave' | 'restart'; readonly request: number; readonly endpoint: number }

const moves = fc.array(
  fc.record({ kind: fc.constantFrom<Move['kind'][]>('send', 'send', 'start', 'end', 'leave', 'restart'), request: fc.nat(5), endpoint: fc.nat(2) }),
  { maxLength: 40 },
)

describe('whatever happens in whatever order', () => {
  it('each rule: nothing goes below 0, gauges agree with counters, and all ends bring all to 0', () => {
    fc.assert(
      fc.property(moves, fc.boolean(), fc.constantFrom('documented', 'llm-d'), (story, addEstimatedOutputTokens, release) => {
        const desk = new Desk()
        const parameters = { addEstimatedOutputTokens, release }
        let one = producer(parameters, desk)
        const endpoints = [0, 1, 2].map((index) => endpoint(`e${index}`))
        const requests: Request[] = [0, 1, 2, 3, 4, 5].map((index) => request({ tokens: index * 3 }))
        for (const { kind, request: r, endpoint: e } of story) {
          const target = endpoints[e] as Endpoint
          if (kind === 'send') one.preRequest(requests[r], sent({ prefill: target, decode: endpoints[(e + 1) % 3] as Endpoint }))
          if (kind === 'start') one.responseBody(requests[r], step(true, false))
          if (kind === 'end') one.responseBody(requests[r], step(false, true))
          if (kind === 'leave') {
            one.endpointRemoved(target)
            endpoints[e] = endpoint(`e${e}`)
            one.endpointAdded(endpoints[e])
          }
          if (kind === 'restart') {
            const next = producer(parameters, desk)
            next.load(one.save(), endpoints)
            one = next
          }
          for (const each of endpoints) {
            expect(one.requestsOn(each.id)).toBeGreaterThanOrEqual(0)
            expect(one.tokensOn(each.id)).toBeGreaterThanOrEqual(0)
          }
        }
        for (const r of requests) one.responseBody(r, step(false, true))
        for (const each of endpoints) expect(load(one, each)).toBe('0/0')
        for (const { name, labels } of desk.observations) if (name.startsWith('inflight_re') || name.startsWith('inflight_t')) expect(desk.metric(name, labels)).toBe(0)
        expect(one.ledger.requests()).toEqual([])
      }),
    )
  })
})

describe('the uncached part', () => {
  it('is read for each profile from its own endpoint', () => {
    const desk = new Desk()
    const one = producer({}, desk)
    const a = endpoint('a')
    desk.writer(PREFIX_CACHE_MATCH_INFO).put(a, { matchBlocks: 2, totalBlocks: 3, blockSizeTokens: 4, cachedBlockCount: 2 })
    one.preRequest(request({ tokens: 10 }), sent({ decode: a }))
    expect(load(one, a)).toBe('1/4')
  })
})
