import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { BODY, CHAT, answers, closing, doorTo, messageOf, post, rawClient, rawUpstream, streams, token, upstream, DONE, STREAM_BODY } from './setting.ts'
import type { Setting } from './setting.ts'

const echo = () => upstream('a', (_request, response) => {
  answers(response, {})
})

/** The status line of whatever the door says to bytes of any kind. */
const statusOf = async (setting: Setting, bytes: string | Buffer): Promise<string> => {
  const { socket, said } = rawClient(setting.port)
  socket.write(bytes)
  return (await said).slice(0, 12)
}

describe('a body', () => {
  it('that is not JSON, cut off, or not UTF-8 is refused the same way on every path', async () => {
    const setting = await doorTo([(await echo()).endpoint])
    const bodies = ['', ' ', 'null', '[1]', '{"model":', 'x', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]
    for (const path of [CHAT, '/v1/completions', '/v1/embeddings', '/v1/responses']) {
      for (const body of bodies) {
        const response = await post(setting, typeof body === 'string' ? body : new Uint8Array(body), {}, path)
        expect(response.status).toBe(400)
        expect((await messageOf(response)).error).toMatchObject({ type: 'invalid_request_error', param: null, code: 'bad_request' })
      }
    }
    expect(setting.scheduler.told.size).toBe(0)
  })

  it('of 50 MB passes whole', async () => {
    const a = await echo()
    const setting = await doorTo([a.endpoint])
    const body = `{"model":"m","x":"${'渐'.repeat(16 * 1024 * 1024)}"}`

    expect((await post(setting, body)).status).toBe(200)
    expect(a.requests[0]?.body.equals(Buffer.from(body))).toBe(true)
  })

  it('larger than the limit is refused by its length, before it is sent', async () => {
    const setting = await doorTo([(await echo()).endpoint], { bodyLimitBytes: 1000 })
    const asking = httpRequest(`${setting.url}${CHAT}`, { method: 'POST', headers: { 'content-length': '1001', expect: '100-continue' } })
    let continued = false
    asking.on('continue', () => {
      continued = true
    })
    asking.flushHeaders()
    const [response] = await once(asking, 'response') as [{ statusCode: number; headers: Record<string, string> }]
    asking.destroy()

    expect([response.statusCode, response.headers['connection'], continued]).toEqual([413, 'close', false])
  })

  it('larger than the limit without a length is refused when it passes it, and not kept', async () => {
    const setting = await doorTo([(await echo()).endpoint], { bodyLimitBytes: 1024 * 1024 })
    const chunk = new Uint8Array(64 * 1024)
    let sent = 0
    const body = new ReadableStream({
      pull: (controller) => {
        sent++
        if (sent > 800) controller.close()
        else controller.enqueue(chunk)
      },
    })
    const before = process.memoryUsage().arrayBuffers
    const response = await fetch(`${setting.url}${CHAT}`, { method: 'POST', body, duplex: 'half' } as RequestInit)

    expect(response.status).toBe(413)
    expect((await messageOf(response)).error.code).toBe('body_too_large')
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(40 * 1024 * 1024)
    await expect.poll(() => setting.door.open).toBe(0)
  })

  it('whose client leaves before its end is nobody’s request', async () => {
    const setting = await doorTo([(await echo()).endpoint])
    const { socket } = rawClient(setting.port)
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\n{"model"`)
    await expect.poll(() => setting.door.open).toBe(1)
    socket.destroy()
    await expect.poll(() => setting.door.open).toBe(0)

    expect(setting.scheduler.told.size).toBe(0)
  })

  it('is waited for when its client asks first', async () => {
    const a = await echo()
    const setting = await doorTo([a.endpoint])
    const asking = httpRequest(`${setting.url}${CHAT}`, { method: 'POST', headers: { 'content-length': String(BODY.length), expect: '100-continue' } })
    asking.flushHeaders()
    await once(asking, 'continue')
    asking.end(BODY)
    const [response] = await once(asking, 'response') as [{ statusCode: number; resume(): void }]
    response.resume()

    expect(response.statusCode).toBe(200)
    expect(a.requests[0]?.headers).not.toHaveProperty('expect')
  })

  it('is not asked for on a path that nobody has', async () => {
    const setting = await doorTo([])
    const asking = httpRequest(`${setting.url}/v1/foo`, { method: 'POST', headers: { 'content-length': '10', expect: '100-continue' } })
    asking.on('continue', () => {
      throw new Error('asked for')
    })
    asking.flushHeaders()
    const [response] = await once(asking, 'response') as [{ statusCode: number }]
    asking.destroy()
    expect(response.statusCode).toBe(404)
  })
})

describe('a request', () => {
  it('that comes too slowly is given up with 408', async () => {
    const setting = await doorTo([], { requestTimeoutMs: 100, checkEveryMs: 20 })
    const inHead = statusOf(setting, `POST ${CHAT} HTTP/1.1\r\nhost: h\r\nx: `)
    const inBody = statusOf(setting, `POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\n{`)

    expect(await Promise.all([inHead, inBody])).toEqual(['HTTP/1.1 408', 'HTTP/1.1 408'])
    expect(setting.door.open).toBe(0)
  })

  it('that is no HTTP is refused in the shape of every error', async () => {
    const setting = await doorTo([])
    const { socket, said } = rawClient(setting.port)
    socket.write('SSH-2.0-OpenSSH\r\n')
    const text = await said

    expect(text.startsWith('HTTP/1.1 400 Bad Request\r\n')).toBe(true)
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ error: { type: 'invalid_request_error', code: 'bad_request' } })
    expect(setting.door.counts.broken).toBe(1)
  })

  it('with a head that is too large is 431', async () => {
    const setting = await doorTo([])
    expect(await statusOf(setting, `POST ${CHAT} HTTP/1.1\r\nhost: h\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`)).toBe('HTTP/1.1 431')
  })

  it('with an absolute target goes to the chosen endpoint all the same', async () => {
    const a = await echo()
    const setting = await doorTo([a.endpoint])
    expect(await statusOf(setting, `POST http://169.254.169.254${CHAT}?a=b HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`)).toBe('HTTP/1.1 200')
    expect(a.requests[0]?.url).toBe(`${CHAT}?a=b`)
    expect(a.requests[0]?.headers.host).toBe(a.endpoint.hostPort)
  })

  it('to an unknown path is 404, with a wrong method 405, in the shape of every error', async () => {
    const setting = await doorTo([])
    const unknown = await post(setting, BODY, {}, '/v1/foo')
    const wrong = await fetch(`${setting.url}${CHAT}`)

    expect([unknown.status, (await messageOf(unknown)).error.code]).toEqual([404, 'unknown_path'])
    expect([wrong.status, wrong.headers.get('allow'), (await messageOf(wrong)).error.code]).toEqual([405, 'POST', 'method_not_allowed'])
  })

  it('pipelined behind another is answered in order', async () => {
    const a = await upstream('a', (_request, response, body) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end(body)
    })
    const setting = await doorTo([a.endpoint])
    const { socket, said } = rawClient(setting.port)
    const one = (n: number, end: string): string => `POST ${CHAT} HTTP/1.1\r\nhost: h\r\n${end}content-length: 7\r\n\r\n{"n":${n}}`
    socket.write(one(1, '') + one(2, '') + one(3, 'connection: close\r\n'))

    expect([...(await said).matchAll(/\{"n":\d\}/g)].map(String)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
  })
})

describe('an endpoint', () => {
  const cases: readonly (readonly [name: string, bytes: string, cause: string])[] = [
    ['resets in the middle of its head', 'HTTP/1.1 200 OK\r\ncontent-ty', 'reset'],
    ['closes without a word', '', 'reset'],
    ['has a head without an end', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`, 'malformed'],
    ['switches protocols unasked', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n', 'malformed'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}', 'malformed'],
  ]
  it.each(cases)('that %s fails its attempt', async (_name, bytes, cause) => {
    const endpoint = await rawUpstream('a', (socket) => {
      socket.once('data', () => socket.end(bytes))
    })
    const setting = await doorTo([endpoint])
    const response = await post(setting)

    expect([502, 503]).toContain(response.status)
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'failed', cause })
    expect(setting.scheduler.openLoad).toBe(0)
  })

  it('may send interim responses and trailers', async () => {
    const endpoint = await rawUpstream('a', (socket) => {
      socket.once('data', () => socket.write(
        'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n' +
        'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n'))
    })
    const setting = await doorTo([endpoint])
    const response = await post(setting)

    expect([response.status, await response.text(), response.headers.has('trailer'), response.headers.has('link')]).toEqual([200, 'ok', false, false])
  })

  it('whose body ends with its connection is whole', async () => {
    const endpoint = await rawUpstream('a', (socket) => {
      socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nall of it'))
    })
    const setting = await doorTo([endpoint])

    expect(await (await post(setting)).text()).toBe('all of it')
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'ended' })
  })

  it('that answers before it has read the request is heard', async () => {
    const a = await upstream('a', () => undefined)
    a.server.removeAllListeners('request')
    a.server.on('request', (_request, response: ServerResponse) => {
      answers(response, { early: true }, 422)
    })
    const setting = await doorTo([a.endpoint])
    const response = await post(setting, `{"x":"${'a'.repeat(100_000)}"}`)

    expect([response.status, await response.json()]).toEqual([422, { early: true }])
  })

  it('that streams for an HTTP/1.0 client ends with the connection', async () => {
    const a = await upstream('a', (_request, response) => {
      streams(response, ['a'])
    })
    const setting = await doorTo([a.endpoint])
    const { socket, said } = rawClient(setting.port)
    socket.write(`POST ${CHAT} HTTP/1.0\r\ncontent-length: ${STREAM_BODY.length}\r\n\r\n${STREAM_BODY}`)

    expect((await said).endsWith(`\r\n\r\n${token('a')}${DONE}`)).toBe(true)
  })
})

describe('the list of models', () => {
  const listing = (id: string, models: readonly unknown[]) => upstream(id, (request, response) => {
    if (request.url === '/v1/models') answers(response, { object: 'list', data: models })
    else answers(response, {}, 404)
  })

  it('joins what the endpoints say, each id once', async () => {
    const a = await listing('a', [{ id: 'm1', owned_by: 'a' }, { id: 'm2' }])
    const b = await listing('b', [{ id: 'm2', owned_by: 'b' }, { id: 'm3' }, { nameless: 1 }])
    const broken = await upstream('c', (_request, response) => {
      response.end('x')
    })
    const setting = await doorTo([a.endpoint, broken.endpoint, b.endpoint])

    expect(await (await fetch(`${setting.url}/v1/models`)).json()).toEqual({ object: 'list', data: [{ id: 'm1', owned_by: 'a' }, { id: 'm2' }, { id: 'm3' }] })
    expect(await (await fetch(`${setting.url}/v1/models/m3`)).json()).toEqual({ id: 'm3' })
    expect((await fetch(`${setting.url}/v1/models/toString`)).status).toBe(404)
    expect(setting.scheduler.told.size).toBe(0)
  })

  it('asks more endpoints than it asks at once', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, (_, i) => listing(`e${i}`, [{ id: `m${i}` }])))
    const setting = await doorTo(many.map(({ endpoint }) => endpoint))
    const list = await (await fetch(`${setting.url}/v1/models`)).json() as { data: { id: string }[] }

    expect(list.data.map(({ id }) => id)).toEqual(many.map((_, i) => `m${i}`))
  })

  it('is an error when no endpoint is there or none answers', async () => {
    const broken = await upstream('c', (_request, response) => {
      answers(response, {}, 500)
    })
    const none = await doorTo([])
    const silent = await doorTo([broken.endpoint])

    expect((await fetch(`${none.url}/v1/models`)).status).toBe(503)
    expect((await fetch(`${silent.url}/v1/models`)).status).toBe(502)
  })

  it('is not waited for by a client who left', async () => {
    let closed: () => void = () => undefined
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    let asked: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const slow = await upstream('a', (request) => {
      request.socket.once('close', closed)
      asked()
    })
    const setting = await doorTo([slow.endpoint])
    const leaving = new AbortController()
    closing(() => {
      leaving.abort()
    })
    const response = fetch(`${setting.url}/v1/models`, { signal: leaving.signal }).catch(() => 'left')
    await isAsked
    leaving.abort()

    expect(await response).toBe('left')
    await isClosed
  })
})
