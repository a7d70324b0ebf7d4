import OpenAI, { APIError, APIUserAbortError, BadRequestError, InternalServerError, NotFoundError, RateLimitError } from 'openai'
import { describe, expect, it } from 'vitest'
import { answers, doorTo, rawUpstream, streams, token, upstream } from './setting.ts'
import type { Setting } from './setting.ts'

const client = (setting: Setting): OpenAI => new OpenAI({ baseURL: `${setting.url}/v1`, apiKey: 'key', maxRetries: 0 })
const messages = [{ role: 'user' as const, content: 'hi' }]

describe('the openai package as client', () => {
  it('completes a chat', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, { id: 'c', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'hello' } }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })
    })
    const setting = await doorTo([a.endpoint])
    const completion = await client(setting).chat.completions.create({ model: 'm', messages })

    expect(completion.choices[0]?.message.content).toBe('hello')
    expect(completion._request_id).toMatch(/^[0-9a-f-]{36}$/)
    expect(a.requests[0]?.headers['authorization']).toBe('Bearer key')
    expect(JSON.stringify(setting.scheduler.story())).not.toContain('key')
  })

  it('streams a chat, token by token', async () => {
    const a = await upstream('a', (_request, response) => {
      streams(response, ['a', 'b', '渐'])
    })
    const setting = await doorTo([a.endpoint])
    const seen: (string | null | undefined)[] = []
    for await (const chunk of await client(setting).chat.completions.create({ model: 'm', messages, stream: true })) seen.push(chunk.choices[0]?.delta.content)

    expect(seen).toEqual(['a', 'b', '渐'])
  })

  it('makes embeddings, text completions and responses', async () => {
    const a = await upstream('a', (request, response) => {
      if (request.url === '/v1/embeddings') answers(response, { object: 'list', data: [{ embedding: [0.5], index: 0 }], usage: { prompt_tokens: 1, total_tokens: 1 } })
      else if (request.url === '/v1/completions') answers(response, { choices: [{ text: 'x' }] })
      else answers(response, { id: 'r', object: 'response', output: [] })
    })
    const openai = client(await doorTo([a.endpoint]))

    expect((await openai.embeddings.create({ model: 'm', input: 'x', encoding_format: 'float' })).data[0]?.embedding).toEqual([0.5])
    expect((await openai.completions.create({ model: 'm', prompt: 'x' })).choices[0]?.text).toBe('x')
    expect((await openai.responses.create({ model: 'm', input: 'x' })).id).toBe('r')
  })

  it('lists models and gets one', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, { object: 'list', data: [{ id: 'm', object: 'model' }] })
    })
    const openai = client(await doorTo([a.endpoint]))

    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(['m'])
    expect((await openai.models.retrieve('m')).id).toBe('m')
    await expect(openai.models.retrieve('n')).rejects.toBeInstanceOf(NotFoundError)
  })

  it('sees each error as the class of its status, with code and request id', async () => {
    const setting = await doorTo([])
    const openai = client(setting)
    const failure = (): Promise<unknown> => openai.chat.completions.create({ model: 'm', messages }).catch((error: unknown) => error)
    const unavailable = await failure()
    setting.scheduler.answer = (_input, request) =>
      Promise.resolve({ kind: 'rejected', request, status: 429, code: 'ResourceExhausted', reason: 'rejected-saturated', message: 'saturated' })
    const saturated = await failure()
    const bad = await openai.post('/chat/completions', { body: 'not an object' }).catch((error: unknown) => error)

    expect(unavailable).toBeInstanceOf(InternalServerError)
    expect(saturated).toBeInstanceOf(RateLimitError)
    expect(saturated).toMatchObject({ status: 429, code: 'resource_exhausted', type: 'rate_limit_error', param: null, requestID: expect.stringMatching(/.+/) as string })
    expect(bad).toBeInstanceOf(BadRequestError)
  })

  it('sees an endpoint’s own error unchanged', async () => {
    const a = await upstream('a', (_request, response) => {
      answers(response, { error: { message: 'The model `m` does not exist', type: 'NotFoundError', param: 'model', code: 404 } }, 404)
    })

    await expect(client(await doorTo([a.endpoint])).chat.completions.create({ model: 'm', messages })).rejects.toMatchObject({ status: 404, type: 'NotFoundError', param: 'model' })
  })

  it('sees that a stream broke, after the tokens that came', async () => {
    const dies = await rawUpstream('dies', (socket) => {
      const text = token('a')
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n`, () => socket.resetAndDestroy())
      })
    })
    const setting = await doorTo([dies])
    const seen: (string | null | undefined)[] = []
    const reading = async (): Promise<void> => {
      for await (const chunk of await client(setting).chat.completions.create({ model: 'm', messages, stream: true })) seen.push(chunk.choices[0]?.delta.content)
    }

    await expect(reading()).rejects.toBeInstanceOf(APIError)
    expect(seen).toEqual(['a'])
  })

  it('may abort a stream, which ends the request upstream', async () => {
    let closed: () => void = () => undefined
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve
    })
    const a = await upstream('a', (request, response) => {
      request.socket.once('close', closed)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(token('a'))
    })
    const setting = await doorTo([a.endpoint])
    const stream = await client(setting).chat.completions.create({ model: 'm', messages, stream: true })
    for await (const _chunk of stream) stream.controller.abort()
    await isClosed
    await setting.scheduler.until(({ what }) => what === 'aborted')

    expect(setting.scheduler.openLoad).toBe(0)
  })

  it('may abort before the first header', async () => {
    const a = await upstream('a', () => undefined)
    const setting = await doorTo([a.endpoint])
    const leaving = new AbortController()
    const completion = client(setting).chat.completions.create({ model: 'm', messages }, { signal: leaving.signal })
    const outcome = completion.catch((error: unknown) => error)
    await setting.scheduler.until(({ what }) => what === 'sent')
    leaving.abort()

    expect(await outcome).toBeInstanceOf(APIUserAbortError)
    await setting.scheduler.until(({ what }) => what === 'aborted')
  })
})
