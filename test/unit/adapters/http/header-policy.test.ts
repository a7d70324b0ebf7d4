import { describe, expect, it } from 'vitest'
import {
  attemptHeaders, clientResponseHeaders, JOURNALED, readClientHeaders, requestIdOf, routeHeaders, SYSTEM_OWNED,
} from '../../../../src/adapters/http/header-policy.ts'
import type { Routed } from '../../../../src/adapters/http/scheduler-port.ts'

const route = (over: Partial<Routed> = {}): Routed => ({
  kind: 'routed', request: 1, attempt: 1, endpoint: { id: 'default/a', hostPort: '10.0.0.1:8000' }, fallbacks: [], headers: [],
  targetModel: 'm', stages: { decode: 'default/a' }, ...over,
})

describe('the headers of a request', () => {
  it('loses what belongs to the connection, also what Connection names', () => {
    const raw = ['Host', 'h', 'Connection', 'keep-alive, X-Foo', 'X-Foo', '1', 'TE', 'trailers', 'Trailer', 'x', 'Transfer-Encoding', 'chunked',
      'Keep-Alive', 'timeout=5', 'Upgrade', 'h2c', 'Proxy-Authorization', 'p', 'Content-Length', '3', 'Expect', '100-continue', 'X-Bar', '2']

    expect(readClientHeaders(raw).forwarded).toEqual(['X-Bar', '2'])
  })

  it('loses every system-owned header in any case of letters, however often it is sent', () => {
    const raw = [...SYSTEM_OWNED].flatMap((name) => [name.toUpperCase(), 'forged', name, 'forged again'])

    expect(readClientHeaders(raw).forwarded).toEqual([])
  })

  it('keeps the rest as it came: order, case, repeated values and the session header', () => {
    const raw = ['Authorization', 'Bearer k', 'X-Session-Id', 's1', 'Accept', 'a', 'accept', 'b', 'X-Ünï', '\xe9']

    expect(readClientHeaders(raw).forwarded).toEqual(raw)
  })

  it('keeps one value of a header that has only one', () => {
    const raw = ['Content-Type', 'application/json', 'content-type', 'text/plain', 'authorization', 'a', 'Authorization', 'b']

    expect(readClientHeaders(raw).forwarded).toEqual(['Content-Type', 'application/json', 'authorization', 'a'])
  })

  it('journals allow-listed headers only, and never credentials', () => {
    const raw = ['Authorization', 'Bearer secret', 'Cookie', 'c=1', 'X-Api-Key', 'k', 'X-LLM-D-Inference-Objective', 'fast', 'x-session-token', 't']

    expect(readClientHeaders(raw).journaled).toEqual([
      { name: 'x-llm-d-inference-objective', value: 'fast' }, { name: 'x-session-token', value: 't' },
    ])
    for (const secret of ['authorization', 'cookie', 'proxy-authorization', 'x-api-key']) expect(JOURNALED.has(secret)).toBe(false)
  })

  it('is not fooled by names of object members', () => {
    const headers = readClientHeaders(['__proto__', 'x', 'constructor', 'y'])

    expect(headers.all.get('__proto__')).toBe('x')
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(headers.forwarded).toEqual(['__proto__', 'x', 'constructor', 'y'])
  })

  it('takes the first request id, and none that is empty or endless', () => {
    expect(requestIdOf(['X-Request-Id', 'r1', 'x-request-id', 'r2'])).toBe('r1')
    expect(requestIdOf(['x-request-id', ''])).toBeUndefined()
    expect(requestIdOf(['x-request-id', 'r'.repeat(257)])).toBeUndefined()
    expect(requestIdOf(['host', 'h'])).toBeUndefined()
  })
})

describe('the headers of an attempt', () => {
  it('set the destination with its fallbacks, IPv6 in brackets, and the request id', () => {
    const to = route({ endpoint: { id: 'a', hostPort: '[fd00::1]:8000' }, fallbacks: [{ id: 'b', hostPort: '10.0.0.2:8000' }] })

    expect(attemptHeaders(['A', '1'], to, 'r1')).toEqual([
      'A', '1', 'x-gateway-destination-endpoint', '[fd00::1]:8000,10.0.0.2:8000', 'x-request-id', 'r1',
    ])
  })

  it('replace the client’s header and remove one for an empty value', () => {
    const to = route({ headers: [['x-existing', 'ours'], ['x-gone', ''], ['X-Prefiller-Host-Port', '10.0.0.7:8000']] })

    expect(attemptHeaders(['X-Existing', 'client', 'X-Gone', '1'], to, 'r1')).toEqual([
      'x-existing', 'ours', 'x-prefiller-host-port', '10.0.0.7:8000', 'x-gateway-destination-endpoint', '10.0.0.1:8000', 'x-request-id', 'r1',
    ])
  })

  it('keep nothing of the attempt before', () => {
    const { forwarded } = readClientHeaders(['x-existing', 'existing-value'])
    attemptHeaders(forwarded, route({ headers: [['x-existing', 'previously-set-value'], ['authorization', 'first']] }), 'r1')
    const second = attemptHeaders(forwarded, route({ attempt: 2 }), 'r1')

    expect(second.slice(0, 2)).toEqual(['x-existing', 'existing-value'])
    expect(second).not.toContain('authorization')
  })

  it('cannot break the framing, whatever a plugin sets', () => {
    const to = route({ headers: [['content-length', '1'], ['transfer-encoding', 'chunked'], ['host', 'h'], ['connection', 'close']] })

    expect(attemptHeaders([], to, 'r1')).toEqual(['x-gateway-destination-endpoint', '10.0.0.1:8000', 'x-request-id', 'r1'])
  })
})

describe('the headers of a response', () => {
  it('lose the connection’s and the router’s, and keep repeated ones', () => {
    const received = {
      connection: 'keep-alive, x-foo', 'x-foo': '1', 'transfer-encoding': 'chunked', trailer: 'x', 'x-prefiller-host-port': 'p',
      'x-gateway-destination-endpoint': 'd', 'x-request-id': 'theirs', 'set-cookie': ['a=1', 'b=2'], 'content-type': 'audio/wav',
    }

    expect(clientResponseHeaders(received, ['x-request-id', 'r1'], false)).toEqual([
      'x-request-id', 'r1', 'set-cookie', 'a=1', 'set-cookie', 'b=2', 'content-type', 'audio/wav',
    ])
  })

  it('keep length and coding as long as the bytes are the endpoint’s', () => {
    const received = { 'content-length': '10', 'content-encoding': 'gzip' }

    expect(clientResponseHeaders(received, [], false)).toEqual(['content-length', '10', 'content-encoding', 'gzip'])
    expect(clientResponseHeaders(received, [], true)).toEqual([])
  })

  it('name the endpoints of each stage', () => {
    const to = route({ stages: { decode: 'ns/d', prefill: 'ns/p', encode: ['ns/e1', 'ns/e2'] } })

    expect(routeHeaders(to, 'r1')).toEqual([
      'x-request-id', 'r1', 'x-signalbox-decode-endpoint', 'ns/d', 'x-signalbox-prefill-endpoint', 'ns/p',
      'x-signalbox-encode-endpoints', 'ns/e1,ns/e2',
    ])
    expect(routeHeaders(route(), 'r1')).toEqual(['x-request-id', 'r1', 'x-signalbox-decode-endpoint', 'default/a'])
  })
})
