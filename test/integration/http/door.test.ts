import { once } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { BODY, CHAT, DONE, STREAM_BODY, answers, closing, deadEndpoint, doorTo, messageOf, post, rawClient, rawUpstream, streams, token, upstream } from './setting.ts'

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

describe('a request through the front door', () => {
  it('reaches the endpoint with its bytes unchanged, and the answer comes back so', async () => {
    const body = '{ "model" : "m",  "big": 123456789012345678901234567890, "é":"\\u00e9", "messages":[] }'
    const a = await upstream('default/a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'x-theirs': '1' })
      response.end(`{"odd":  1e400,"usage":${JSON.stringify(usage)}}`)
    })
    const setting = await doorTo([a.endpoint])
    const response = await post(setting, body, { 'x-request-id': 'r1', 'x-user': 'keep' })

    expect(await response.text()).toBe(`{"odd":  1e400,"usage":${JSON.stringify(usage)}}`)
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'x-request-id': 'r1', 'x-signalbox-decode-endpoint': 'default/a', 'x-theirs': '1' })
    expect(a.requests[0]?.body.toString()).toBe(body)
    expect(a.requests[0]?.headers).toMatchObject({ 'x-request-id': 'r1', 'x-user': 'keep', 'x-gateway-destination-endpoint': a.endpoint.hostPort })
    expect(setting.scheduler.story()).toEqual([
      { what: 'received', input: expect.objectContaining({ requestId: 'r1', frontDoor: 'http', proxied: true, api: 'chat', model: 'm', targetModel: 'm', bodyBytes: Buffer.byteLength(body), streaming: false }) as unknown },
      { what: 'sent', attempt: 1 },
      { what: 'started', attempt: 1, status: 200, streaming: false },
      { what: 'ended', attempt: 1, end: { cause: 'natural', status: 200, bodyBytes: 82, usage: { promptTokens: 3, completionTokens: 2, totalTokens: 5, cachedTokens: 0, reasoningTokens: 0 } } },
    ])
    expect(setting.door.open).toBe(0)
  })

  it('streams each token when it is there, not at the end', async () => {
    let next: () => void = () => undefined
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(token('one'))
      next = () => {
        response.end(token('two') + DONE)
      }
    })
    const setting = await doorTo([a.endpoint])
    const response = await post(setting, STREAM_BODY)
    const reader = response.body?.getReader()
    const first = await reader?.read()
    expect(Buffer.from(first?.value ?? []).toString()).toBe(token('one'))
    next()
    const rest: Buffer[] = []
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) rest.push(Buffer.from(part.value))

    expect(Buffer.concat(rest).toString()).toBe(token('two') + DONE)
    expect(setting.scheduler.story().map(({ what }) => what)).toEqual(['received', 'sent', 'started', 'ended'])
  })

  it('tells that a long stream is alive, at most every 10 s', async () => {
    let next: (text: string) => void = () => undefined
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(token('1'))
      next = (text) => response.write(text)
    })
    const setting = await doorTo([a.endpoint])
    vi.useFakeTimers({ toFake: ['performance'] })
    closing(() => {
      vi.useRealTimers()
    })
    const reader = (await post(setting, STREAM_BODY)).body?.getReader()
    await reader?.read()
    for (const [content, waitMs] of [['2', 9000], ['3', 1001], ['4', 9999]] as const) {
      vi.advanceTimersByTime(waitMs)
      next(token(content))
      await reader?.read()
    }
    await reader?.cancel()

    expect(setting.scheduler.story().filter(({ what }) => what === 'progressed')).toEqual([{ what: 'progressed', tokens: 3 }])
  })

  it('goes to each API’s own path, with its query, and is told under the API’s name', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, {})
    })
    const setting = await doorTo([a.endpoint])
    const paths = ['/v1/chat/completions?x=1', '/v1/completions', '/v1/embeddings', '/v1/responses', '/v1/messages', '/inference/v1/generate']
    for (const path of paths) expect((await post(setting, BODY, {}, path)).status).toBe(200)

    expect(a.requests.map(({ url }) => url)).toEqual(paths)
    const apis = [...setting.scheduler.told.values()].map(([told]) => (told?.what === 'received' ? told.input.api : ''))
    expect(apis).toEqual(['chat', 'completions', 'embeddings', 'responses', 'messages', 'generate'])
  })

  it('gets a request id when it has none', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, {})
    })
    const setting = await doorTo([a.endpoint])
    const id = (await post(setting)).headers.get('x-request-id')

    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(a.requests[0]?.headers['x-request-id']).toBe(id)
  })

  it('carries the router’s headers, never the client’s copies of them', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, {})
    })
    const setting = await doorTo([a.endpoint])
    setting.scheduler.route = { headers: [['x-prefiller-host-port', '[fd00::7]:8000']], stages: { decode: 'a', prefill: 'p', encode: ['e1', 'e2'] } }
    const forged = { 'x-prefiller-host-port': '169.254.169.254:80', 'x-encoder-hosts-ports': '1.1.1.1:1', 'x-gateway-destination-endpoint': '1.1.1.1:666', 'x-llm-d-inference-objective': 'gold' }
    const response = await post(setting, BODY, forged)

    expect(a.requests[0]?.headers).toMatchObject({ 'x-prefiller-host-port': '[fd00::7]:8000', 'x-gateway-destination-endpoint': a.endpoint.hostPort })
    expect(a.requests[0]?.headers).not.toHaveProperty('x-encoder-hosts-ports')
    expect(a.requests[0]?.headers).not.toHaveProperty('x-llm-d-inference-objective')
    expect(response.headers.get('x-signalbox-prefill-endpoint')).toBe('p')
    expect(response.headers.get('x-signalbox-encode-endpoints')).toBe('e1,e2')
    expect(setting.scheduler.story()[0]).toMatchObject({ input: { objective: 'gold', headers: [{ name: 'x-llm-d-inference-objective', value: 'gold' }] } })
  })

  it('reaches an endpoint with an IPv6 address', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, {})
    }, '::1')
    const setting = await doorTo([a.endpoint])

    expect((await post(setting)).status).toBe(200)
    expect(a.requests[0]?.headers['x-gateway-destination-endpoint']).toMatch(/^\[::1\]:\d+$/)
  })

  it('has its model replaced in place when the scheduler says so', async () => {
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '32' })
      response.end('{"model":"base-7b", "n":1e400 } ')
    })
    const setting = await doorTo([a.endpoint])
    setting.scheduler.route = { targetModel: 'base-7b' }
    const response = await post(setting, '{"n":12345678901234567890, "model":"chat-v1"}')

    // And the answer calls it as the client did.
    expect(await response.text()).toBe('{"model":"chat-v1", "n":1e400 } ')

    expect(a.requests[0]?.body.toString()).toBe('{"n":12345678901234567890, "model":"base-7b"}')
  })

  it('passes an endpoint’s own errors through', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, { error: { message: 'no such model', code: 'theirs' } }, 404)
    })
    const setting = await doorTo([a.endpoint])
    const response = await post(setting)

    expect(response.status).toBe(404)
    expect(await response.json()).toEqual({ error: { message: 'no such model', code: 'theirs' } })
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'ended', end: { status: 404, cause: 'natural' } })
  })

  it('passes headers and reasons in any bytes that HTTP allows', async () => {
    const a = await rawUpstream('a', (socket) => {
      socket.once('data', () => socket.end(Buffer.from('HTTP/1.1 200 Schön 渐\r\nx-text: é渐\r\ncontent-length: 2\r\n\r\n{}')))
    })
    const setting = await doorTo([a])
    const response = await post(setting)

    expect([response.status, await response.text()]).toEqual([200, '{}'])
    expect(Buffer.from(response.headers.get('x-text') ?? '', 'latin1').toString()).toBe('é渐')
  })

  it('passes a response without a body', async () => {
    const a = await upstream('a', (_request, response) => {
      response.writeHead(204)
      response.end()
    })
    const setting = await doorTo([a.endpoint])

    expect((await post(setting)).status).toBe(204)
    expect(setting.scheduler.story().map(({ what }) => what)).toEqual(['received', 'sent', 'started', 'ended'])
  })

  it('tells only that it waits: a rejection reaches the client with status and reason', async () => {
    const setting = await doorTo([])
    setting.scheduler.answer = (_input, request) =>
      Promise.resolve({ kind: 'rejected', request, status: 429, code: 'ResourceExhausted', reason: 'rejected-saturated', message: 'system saturated' })
    const saturated = await post(setting, BODY, { 'x-request-id': 'r1' })
    setting.scheduler.answer = undefined
    const empty = await post(setting)

    expect([saturated.status, saturated.headers.get('x-llm-d-request-dropped-reason'), saturated.headers.get('x-request-id')]).toEqual([429, 'rejected-saturated', 'r1'])
    expect((await messageOf(saturated)).error).toEqual({ message: 'system saturated', type: 'rate_limit_error', param: null, code: 'resource_exhausted' })
    expect([empty.status, empty.headers.get('x-llm-d-request-dropped-reason')]).toEqual([503, 'rejected-no-endpoints'])
    expect(setting.scheduler.story()).toHaveLength(1)
  })

  it('is answered 500 when the scheduler breaks, and the door lives on', async () => {
    const failures: unknown[] = []
    const setting = await doorTo([], { failed: (error) => failures.push(error) })
    setting.scheduler.answer = () => Promise.reject(new Error('broken'))
    const response = await post(setting)

    expect([response.status, failures.length, setting.door.open]).toEqual([500, 1, 0])
    setting.scheduler.answer = undefined
    setting.scheduler.endpoints = [(await upstream('a', (_request, answer) => {
      answers(answer, {})
    })).endpoint]
    for (const report of ['sent', 'started', 'ended'] as const) {
      setting.scheduler[report] = () => {
        throw new Error('broken')
      }
    }
    expect([(await post(setting)).status, failures.length, setting.door.open]).toEqual([200, 4, 0])
    expect((await fetch(`${setting.url}/v1/nothing`)).status).toBe(404)
  })
})

describe('retry', () => {
  it('goes on to the next endpoint when one cannot be reached, resets, or is unavailable', async () => {
    const dead = await deadEndpoint('dead')
    const resets = await rawUpstream('resets', (socket) => {
      socket.once('data', () => socket.resetAndDestroy())
    })
    const busy = await upstream('busy', (_request, response) => {
      answers(response, { error: 'busy' }, 503)
    })
    const good = await upstream('good', (_request, response) => {
      streams(response, ['a', 'b'])
    })
    const setting = await doorTo([dead, resets, busy.endpoint, good.endpoint])
    const response = await post(setting, STREAM_BODY)

    expect(await response.text()).toBe(token('a') + token('b') + DONE)
    expect(response.headers.get('x-signalbox-decode-endpoint')).toBe('good')
    const failed = setting.scheduler.story().filter(({ what }) => what === 'failed')
    expect(failed).toMatchObject([
      { attempt: 1, endpoint: 'dead', cause: 'connect', status: 0, retryable: true },
      { attempt: 2, endpoint: 'resets', cause: 'reset', status: 0, retryable: true },
      { attempt: 3, endpoint: 'busy', cause: 'unavailable', status: 503, retryable: true },
    ])
    expect(setting.scheduler.openLoad).toBe(0)
  })

  it('is tried while the client has no byte, though a head came', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n', () => socket.resetAndDestroy())
      })
    })
    const good = await upstream('good', (_request, response) => {
      streams(response, ['a'])
    })
    const setting = await doorTo([dies, good.endpoint])

    expect(await (await post(setting, STREAM_BODY)).text()).toBe(token('a') + DONE)
    expect(setting.scheduler.story()).toContainEqual(expect.objectContaining({ what: 'failed', cause: 'truncated', status: 200, retryable: true }))
  })

  it('ends with the scheduler’s last word', async () => {
    const setting = await doorTo([await deadEndpoint('a'), await deadEndpoint('b')])
    const response = await post(setting)

    expect([response.status, response.headers.get('x-llm-d-request-dropped-reason')]).toEqual([503, 'rejected-no-endpoints'])
    expect(setting.scheduler.story().map(({ what }) => what)).toEqual(['received', 'failed', 'failed'])
    expect(setting.scheduler.openLoad).toBe(0)
  })

  it('is not tried on what is no HTTP', async () => {
    const garbage = await rawUpstream('garbage', (socket) => {
      socket.once('data', () => socket.end('SSH-2.0-OpenSSH\r\n'))
    })
    const good = await upstream('good', (_request, response) => {
      answers(response, {})
    })
    const setting = await doorTo([garbage, good.endpoint])

    expect((await post(setting)).status).toBe(502)
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'failed', cause: 'malformed', retryable: false })
  })
})

describe('a client who leaves', () => {
  it('ends the request upstream, before its first header too, and releases it once', async () => {
    let closed: Promise<unknown> = Promise.resolve()
    const a = await upstream('a', (request) => {
      closed = once(request.socket, 'close')
    })
    const setting = await doorTo([a.endpoint])
    const leaving = new AbortController()
    const response = fetch(`${setting.url}${CHAT}`, { method: 'POST', body: BODY, signal: leaving.signal }).catch(() => 'left')
    await setting.scheduler.until(({ what }) => what === 'sent')
    await expect.poll(() => a.requests.length).toBe(1)
    leaving.abort()

    expect(await response).toBe('left')
    await setting.scheduler.until(({ what }) => what === 'aborted')
    await closed
    expect(setting.scheduler.story().map(({ what }) => what)).toEqual(['received', 'sent', 'aborted'])
    expect([setting.scheduler.openLoad, setting.door.open]).toEqual([0, 0])
  })

  it('ends it in the middle of a stream', async () => {
    let closed: Promise<unknown> = Promise.resolve()
    const a = await upstream('a', (request, response) => {
      closed = once(request.socket, 'close')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(token('a'))
    })
    const setting = await doorTo([a.endpoint])
    const leaving = new AbortController()
    const response = await fetch(`${setting.url}${CHAT}`, { method: 'POST', body: STREAM_BODY, signal: leaving.signal })
    leaving.abort()
    await expect(response.text()).rejects.toThrow()
    await setting.scheduler.until(({ what }) => what === 'aborted')
    await closed

    expect(setting.scheduler.story().at(-1)).toEqual({ what: 'aborted', cause: 'client-disconnect' })
    expect(setting.scheduler.openLoad).toBe(0)
  })

  it('while the scheduler still thinks is told of as soon as its key is known, and never sent', async () => {
    for (const acceptsFirst of [true, false]) {
      const a = await upstream('a', (_request, response) => {
        answers(response, {})
      })
      const setting = await doorTo([a.endpoint])
      let decide: () => void = () => undefined
      setting.scheduler.acceptsFirst = acceptsFirst
      setting.scheduler.answer = (_input, request) =>
        new Promise((resolve) => {
          decide = () => {
            resolve(setting.scheduler.routeOf(request, 1))
          }
        })
      const leaving = new AbortController()
      const response = fetch(`${setting.url}${CHAT}`, { method: 'POST', body: BODY, signal: leaving.signal }).catch(() => 'left')
      await setting.scheduler.until(({ what }) => what === 'received')
      leaving.abort()
      await response
      await expect.poll(() => setting.door.open).toBe(0)
      if (!acceptsFirst) decide()
      await setting.scheduler.until(({ what }) => what === 'aborted')
      if (acceptsFirst) expect(setting.scheduler.story().map(({ what }) => what)).toEqual(['received', 'aborted'])
      expect(a.requests).toEqual([])
    }
  })
})

describe('a stream that breaks', () => {
  it('ends in an error event and a broken connection', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${chunk(token('a'))}`, () => socket.resetAndDestroy())
      })
    })
    const setting = await doorTo([dies])
    const { socket, said } = rawClient(setting.port)
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${STREAM_BODY.length}\r\n\r\n${STREAM_BODY}`)
    const text = await said

    expect(text).toContain(token('a'))
    expect(text).toContain('data: {"error":{"message":"the endpoint failed: truncated","type":"server_error","param":null,"code":"bad_gateway"},"choices":[]}\n\n')
    expect(text.endsWith('0\r\n\r\n')).toBe(false)
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'failed', cause: 'truncated', status: 200, retryable: false })
  })

  it('is only broken off inside an event', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n6\r\ndata: \r\n', () => socket.resetAndDestroy())
      })
    })
    const setting = await doorTo([dies])
    const { socket, said } = rawClient(setting.port)
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${STREAM_BODY.length}\r\n\r\n${STREAM_BODY}`)

    expect((await said).endsWith('6\r\ndata: \r\n')).toBe(true)
  })

  it('is whole all the same when the end mark came before its connection broke', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\ne\r\n${DONE}\r\n`, () => socket.resetAndDestroy())
      })
    })
    const setting = await doorTo([dies])

    expect(await (await post(setting, STREAM_BODY)).text()).toBe(DONE)
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'ended', end: { cause: 'natural' } })
  })

  it('with a length of its own is cut off, and the client sees it', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{"a"', () => socket.end())
      })
    })
    const setting = await doorTo([dies])

    await expect(post(setting).then((response) => response.text())).rejects.toThrow()
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'failed', cause: 'truncated', retryable: false })
  })
})

describe('the scheduler’s own end of a request', () => {
  it('is a 504 before the response has begun', async () => {
    const a = await upstream('a', () => undefined)
    const setting = await doorTo([a.endpoint])
    const response = post(setting)
    await setting.scheduler.until(({ what }) => what === 'sent')
    const answer = { status: 504, code: 'DeadlineExceeded', reason: '', message: 'no first token in time' }

    expect([setting.door.abort(1, answer), setting.door.abort(1, answer)]).toEqual([true, false])
    expect((await response).status).toBe(504)
    expect((await messageOf(await response)).error).toEqual({ message: 'no first token in time', type: 'server_error', param: null, code: 'deadline_exceeded' })
    expect(setting.scheduler.story().map(({ what }) => what)).toEqual(['received', 'sent'])
  })

  it('breaks off a stream that has begun', async () => {
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(token('a'))
    })
    const setting = await doorTo([a.endpoint])
    const { socket, said } = rawClient(setting.port)
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\ncontent-length: ${STREAM_BODY.length}\r\n\r\n${STREAM_BODY}`)
    await setting.scheduler.until(({ what }) => what === 'started')
    setting.door.abort(1, { status: 429, code: 'ResourceExhausted', reason: 'evicted', message: 'evicted' })

    expect(await said).toMatch(/"message":"evicted"/)
  })
})
