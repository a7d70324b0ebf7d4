import { once } from 'node:events'
import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Completion } from '../../src/adapters/http/completion.ts'
import { clientResponseHeaders, readClientHeaders } from '../../src/adapters/http/header-policy.ts'
import {
  BODY, CHAT, DONE, STREAM_BODY, answers, doorTo, messageOf, post, rawClient, rawUpstream, streams, token, upstream,
} from '../integration/http/setting.ts'
import hazards from './cases/http-proxy.json' with { type: 'json' }

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'

/** What each case demands, by its id. */
const checks: ReadonlyMap<string, () => Promise<void>> = new Map([
  ['BUG-163', async () => {
    const inflated = { connection: 'close', 'transfer-encoding': 'chunked', 'content-encoding': 'gzip', 'content-length': '9', 'x-kept': '1' }
    expect(clientResponseHeaders(inflated, [], true)).toEqual(['x-kept', '1'])
    expect(readClientHeaders(['Trailer', 'x', 'Connection', 'x-foo', 'X-Foo', '1', 'x-kept', '1']).forwarded).toEqual(['x-kept', '1'])

    const zipped = gzipSync('{"a":1}')
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json', connection: 'close, x-named', 'x-named': '1' })
      response.end(zipped)
    })
    const setting = await doorTo([a.endpoint])
    const asking = httpRequest(`${setting.url}${CHAT}`, { method: 'POST', headers: { trailer: 'x', connection: 'x-foo', 'x-foo': '1' } })
    asking.end(BODY)
    const [response] = await once(asking, 'response') as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    // The bytes are still the endpoint's, so their coding is told; the connection's headers are the door's own.
    expect(Buffer.concat(chunks).equals(zipped)).toBe(true)
    expect(response.headers['content-encoding']).toBe('gzip')
    expect(response.headers).not.toHaveProperty('x-named')
    for (const name of ['trailer', 'x-foo']) expect(a.requests[0]?.headers).not.toHaveProperty(name)
  }],
  ['BUG-165', async () => {
    const a = await rawUpstream('a', (socket) => {
      socket.once('data', () => socket.end(
        'HTTP/1.1 200 OK\r\nserver: theirs\r\nserver: again\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\nx-request-id: theirs\r\nx-request-id: again\r\ncontent-length: 2\r\n\r\n{}'))
    })
    const setting = await doorTo([a])
    const { socket, said } = rawClient(setting.port)
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\nx-request-id: ours\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`)
    const head = (await said).split('\r\n\r\n')[0] ?? ''
    for (const name of ['server', 'date', 'x-request-id', 'content-length']) {
      expect(head.toLowerCase().split('\r\n').filter((line) => line.startsWith(`${name}:`))).toHaveLength(1)
    }
    expect(head).toMatch(/^x-request-id: ours$/m)
  }],
  ['BUG-166', async () => {
    const audio = Buffer.from([0xff, 0xfe, 0x00])
    const a = await upstream('a', (_request, response, body) => {
      if (body.includes('audio')) {
        response.writeHead(200, { 'content-type': 'audio/wav' })
        response.end(audio)
      } else answers(response, { error: { message: 'no' } }, 400)
    })
    const setting = await doorTo([a.endpoint])
    const binary = await post(setting, '{"audio":1,"stream":true}')
    expect(binary.headers.get('content-type')).toBe('audio/wav')
    expect(Buffer.from(await binary.arrayBuffer()).equals(audio)).toBe(true)
    const error = await post(setting, STREAM_BODY)
    expect([error.status, error.headers.get('content-type')]).toEqual([400, 'application/json'])
    expect(await error.json()).toEqual({ error: { message: 'no' } })
  }],
  ['BUG-168', async () => {
    // Closes each connection 1 ms after its answer, without having said that it will: every second request may meet it.
    const a = await rawUpstream('a', (socket) => {
      socket.on('data', () => {
        socket.write(OK)
        setTimeout(() => socket.destroy(), 1)
      })
    })
    const timed = await doorTo([a])
    for (let round = 0; round < 100; round++) {
      const response = await post(timed)
      await response.arrayBuffer()
      expect(response.status).toBe(200)
    }
    // The worst moment, each time: the connection ends when the next request is on its way.
    const b = await rawUpstream('b', (socket) => {
      let requests = 0
      socket.on('data', () => {
        requests++
        if (requests === 1) socket.write(OK)
        else socket.resetAndDestroy()
      })
    })
    const worst = await doorTo([b])
    for (let round = 0; round < 100; round++) expect((await post(worst)).status).toBe(200)
    expect(worst.door.counts.staleConnections).toBe(99)
    expect([...timed.scheduler.told.values(), ...worst.scheduler.told.values()].flat().filter(({ what }) => what === 'failed')).toEqual([])
  }],
  ['BUG-169', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, {})
    })
    const setting = await doorTo([a.endpoint])
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const asking = httpRequest(`${setting.url}${CHAT}`, { method: 'POST', agent })
    asking.end(BODY)
    const [response] = await once(asking, 'response') as [IncomingMessage]
    response.resume()
    agent.destroy()
    // Node.js tells the time for which it keeps the connection, which is what a proxy in front goes by.
    expect(Number(/timeout=(\d+)/.exec(String(response.headers['keep-alive']))?.[1])).toBeGreaterThan(60)
    expect(setting.door.timeouts.keepAliveMs).toBeGreaterThan(60_000)
    expect(setting.door.timeouts.headersMs).toBeGreaterThan(setting.door.timeouts.keepAliveMs)
  }],
  ['BUG-170', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunk(token('1'))}${chunk(token('2'))}`, () => socket.resetAndDestroy())
      })
    })
    const silent = await rawUpstream('silent', (socket) => {
      socket.once('data', () => socket.resetAndDestroy())
    })
    const healthy = await upstream('b', (_request, response) => {
      streams(response, ['1', '2', '3', '4', '5'])
    })
    const after = await doorTo([dies, healthy.endpoint])
    const { socket, said } = rawClient(after.port)
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${STREAM_BODY.length}\r\n\r\n${STREAM_BODY}`)
    const text = await said
    expect([...text.matchAll(/"content":"(\d)"/g)].map(([, content]) => content)).toEqual(['1', '2'])
    expect(text).toMatch(/data: \{"error":\{/)
    expect(healthy.requests).toEqual([])

    const before = await doorTo([silent, healthy.endpoint])
    expect(await (await post(before, STREAM_BODY)).text()).toBe(['1', '2', '3', '4', '5'].map(token).join('') + DONE)
    expect(before.scheduler.openLoad + after.scheduler.openLoad).toBe(0)
  }],
  ['BUG-171', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, {})
    })
    const setting = await doorTo([a.endpoint])
    const smuggled = [
      `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nhost: h\r\n\r\n`,
      `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${BODY.length}\r\ncontent-length: 5\r\n\r\n${BODY}`,
      `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length : 5\r\n\r\n${BODY}`,
    ]
    for (const bytes of smuggled) {
      const { socket, said } = rawClient(setting.port)
      socket.write(bytes)
      const text = await said
      expect(text.slice(0, 12)).toBe('HTTP/1.1 400')
      expect([...text.matchAll(/HTTP\/1\.1 /g)]).toHaveLength(1)
    }
    expect(a.requests).toEqual([])
    expect((await post(setting)).status).toBe(200)
    expect(a.requests).toHaveLength(1)
  }],
  ['BUG-173', async () => {
    const ends: string[] = []
    const completion = new Completion<string>((value) => ends.push(value))
    const callback = (done: (value: string) => void): Promise<void> => {
      done('called')
      return Promise.resolve()
    }
    for (const value of ['first', 'second']) completion.settle(value)
    await callback((value) => completion.settle(value)).then(() => completion.settle('resolved'))
    expect(ends).toEqual(['first'])

    // An endpoint that ends its response and then resets, and a client that leaves at the same time.
    const a = await rawUpstream('a', (socket) => {
      socket.once('data', () => socket.write(OK, () => socket.resetAndDestroy()))
    })
    const setting = await doorTo([a])
    const { socket } = rawClient(setting.port)
    socket.once('data', () => socket.destroy())
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`)
    await once(socket, 'close')
    await expect.poll(() => setting.door.open).toBe(0)
    expect(setting.scheduler.story().filter(({ what }) => what === 'ended' || what === 'aborted' || what === 'failed')).toHaveLength(1)
  }],
  ['BUG-178', async () => {
    const setting = await doorTo([])
    for (const path of [CHAT, '/v1/completions', '/v1/embeddings', '/v1/responses']) {
      const broken = await post(setting, '{"model":', {}, path)
      const wrong = await fetch(`${setting.url}${path}`)
      expect([broken.status, wrong.status]).toEqual([400, 405])
      for (const response of [broken, wrong]) {
        expect(response.headers.get('content-type')).toBe('application/json')
        const body = await messageOf(response)
        expect(Object.keys(body)).toEqual(['error'])
        expect(Object.keys(body.error).sort()).toEqual(['code', 'message', 'param', 'type'])
      }
    }
  }],
])

describe('hazards of an HTTP proxy', () => {
  it.each(hazards.cases)('$id: $symptom', async ({ id }) => {
    const check = checks.get(id)
    expect(check).toBeDefined()
    await check?.()
  })
})
