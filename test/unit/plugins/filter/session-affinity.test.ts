import { describe, expect, it } from 'vitest'
import { keyText, SESSION_ID } from '../../../../src/core/attribute.ts'
import type { Endpoint } from '../../../../src/core/endpoint.ts'
import { MICROS_PER_S } from '../../../../src/core/instant.ts'
import type { Request, SchedulingResult } from '../../../../src/core/request.ts'
import { sessionAffinityFilter, type SessionAffinityFilter } from '../../../../src/plugins/filter/session-affinity-filter/index.ts'
import { sessionIdProducer, type SessionIdProducer } from '../../../../src/plugins/producer/session-id-producer/index.ts'
import { sessionAffinityScorer, type SessionAffinityScorer } from '../../../../src/plugins/scorer/session-affinity-scorer/index.ts'
import { Desk, endpoint, make, request, scores } from '../given.ts'

const [A, B, C] = ['a', 'b', 'c'].map((name) => endpoint(name)) as [Endpoint, Endpoint, Endpoint]

const from = (headers: Readonly<Record<string, string>>): Request => request({ received: new Map(Object.entries(headers)) })

const routed = (target: Endpoint, prefill: Endpoint | undefined = undefined): SchedulingResult => ({
  primary: 'decode',
  results: new Map([['decode', { endpoints: [target] }], ...(prefill === undefined ? [] : [['prefill', { endpoints: [prefill] }] as const])]),
})

const session = (id = 's1'): Request => from({ 'x-session-id': id })

const filter = (parameters: unknown, desk = new Desk()): SessionAffinityFilter => make(sessionAffinityFilter, parameters, desk)

describe('encoded_endpoint_header', () => {
  it('gives the client a token that brings it back', () => {
    const one = filter(undefined)
    const token = one.responseHeaders(request(), routed(B)).get('x-session-token') ?? ''
    expect(token).toBe('ZGVmYXVsdC9i')
    expect(one.filter(from({ 'x-session-token': token }), [A, B, C])).toEqual([B])
    expect(one.receives()).toEqual(['x-session-token'])
  })

  it('keeps all for a token that is damaged, unknown or absent', () => {
    const all = [A, B]
    for (const headers of [{}, { 'x-session-token': '***' }, { 'x-session-token': '/w==' }, { 'x-session-token': 'ZGVmYXVsdC9j' }]) expect(filter(undefined).filter(from(headers), all)).toBe(all)
  })

  it('takes another header and another profile', () => {
    const one = filter({ encodedEndpointHeaderConfig: { header: 'X-Mine' }, profileName: 'prefill' })
    expect([...one.responseHeaders(request(), routed(A, C)).keys()]).toEqual(['x-mine'])
    expect(one.responseHeaders(request(), routed(A)).size).toBe(0)
  })

  it('as a scorer gives 1 to the bound endpoint and 0 to the others', () => {
    const scorer = make<SessionAffinityScorer>(sessionAffinityScorer)
    expect(scores(scorer, [A, B, C], from({ 'x-session-token': 'ZGVmYXVsdC9i' }))).toEqual([0, 1, 0])
    expect(scores(scorer, [A, B], request())).toEqual([0, 0])
  })
})

describe('session_id', () => {
  it('binds at the first request, and moves only when the endpoint is not among the candidates', () => {
    const one = filter({ strategy: 'session_id' })
    const run = (candidates: readonly Endpoint[], target: Endpoint): string => {
      const r = session()
      const kept = one.filter(r, candidates)
      one.preRequest(r, routed(target))
      return kept.map(({ id }) => id.slice(-1)).join('')
    }
    expect(run([A, B, C], B)).toBe('abc')
    expect(run([A, B, C], B)).toBe('b')
    // The picker took another one although b was there: the session stays.
    expect(run([A, B, C], A)).toBe('b')
    expect(run([A, C], C)).toBe('ac')
    expect(run([A, B, C], C)).toBe('c')
  })

  it('forgets a session that was not used for its time', () => {
    const desk = new Desk()
    const one = filter({ strategy: 'session_id', sessionIdConfig: { evictionTtlSeconds: 60, evictionSweepSeconds: 10 } }, desk)
    one.preRequest(session(), routed(B))
    desk.time = 60 * MICROS_PER_S
    expect(one.filter(session(), [A, B])).toEqual([B])
    desk.time += 1
    expect(one.filter(session(), [A, B])).toEqual([A, B])
    one.preRequest(session('other'), routed(A))
    expect(new TextDecoder().decode(one.save())).not.toContain('s1')
  })

  it('survives a restart', () => {
    const one = filter({ strategy: 'session_id' })
    one.preRequest(session(), routed(B))
    const other = filter({ strategy: 'session_id' })
    other.load(one.save())
    expect(other.filter(session(), [A, B])).toEqual([B])
    expect(other.save()).toEqual(one.save())
    expect(() => { other.load(new Uint8Array()) }).toThrow('cannot be read')
  })

  it('takes the first source that says something, also a request attribute', () => {
    const one = filter({ strategy: 'session_id', sessionIdConfig: { sources: [{ header: 'X-First' }, { attribute: 'SessionIDDataKey', producer: 'mine' }] } })
    expect(one.receives()).toEqual(['x-first'])
    expect(one.consumes().optional?.map(keyText)).toEqual(['SessionIDDataKey/mine'])
    const r = request({ attributes: new Map([['SessionIDDataKey/mine', 's9']]) })
    one.preRequest(r, routed(C))
    expect(one.filter(from({ 'x-first': 's9' }), [A, C])).toEqual([C])
  })

  it('says what is wrong with its parameters', () => {
    expect(() => filter({ strategy: 'sticky' })).toThrow('strategy must be')
    expect(() => filter({ strategy: 'session_id', sessionIdConfig: { evictionTtlSeconds: 0 } })).toThrow('evictionTtlSeconds must be > 0')
    expect(() => filter({ strategy: 'session_id', sessionIdConfig: { sources: [{}] } })).toThrow('exactly one of header or attribute must be set')
  })
})

describe('session-id-producer', () => {
  const produced = (parameters: unknown, headers: Readonly<Record<string, string>>): unknown => {
    const r = from(headers)
    make<SessionIdProducer>(sessionIdProducer, parameters).produce(r)
    return r.attributes.get(keyText(SESSION_ID))
  }

  it('takes a header or one cookie', () => {
    expect(produced({ headerName: 'X-Session' }, { 'x-session': ' s1 ' })).toBe('s1')
    expect(produced({ cookieName: 'Sid' }, { 'cookie:Sid': 's2' })).toBe('s2')
    expect(produced({ cookieName: 'Sid' }, {})).toBeUndefined()
    expect(make<SessionIdProducer>(sessionIdProducer, { cookieName: 'Sid' }).receives()).toEqual(['cookie:Sid'])
  })

  it('wants exactly one of them', () => {
    expect(() => make(sessionIdProducer)).toThrow('requires exactly one of headerName or cookieName to be set')
    expect(() => make(sessionIdProducer, { headerName: 'a', cookieName: 'b' })).toThrow('not both')
  })

  it('publishes under its own name', () => {
    expect(make<SessionIdProducer>(sessionIdProducer, { headerName: 'a' }, new Desk(), [], 'mine').produces().map(keyText)).toEqual(['SessionIDDataKey/mine'])
  })
})
