import { afterEach, describe, expect, it } from 'vitest'
import { ask, chat } from './fleet.ts'
import { answering, DECODED, silent, stubFleet } from './stub-fleet.ts'
import type { Behaviour, StubFleet } from './stub-fleet.ts'

const NOTHING = [0, 0, 0, 0]
const REPLY = '{"kv_transfer_params":{"remote_engine_id":"e","big":12345678901234567890}}'

let fleet: StubFleet | undefined
const start = async (engine: string, prefill: Behaviour, parameters: Readonly<Record<string, unknown>> = {}): Promise<StubFleet> => {
  fleet = await stubFleet(engine, parameters)
  fleet.prefill.behaviour = prefill
  return fleet
}
afterEach(async () => {
  await fleet?.close()
  fleet = undefined
})

describe('the two legs of a request', () => {
  it('carry the headers and numbers that they should', async () => {
    const { prefill, decode, server } = await start('vllm', answering(200, REPLY))
    const { status, text } = await ask(server.url, `{"model":"m","seed":12345678901234567890,"stream":false,"max_tokens":7,"messages":[{"role":"user","content":"hi"}]}`)
    expect([status, text]).toEqual([200, DECODED])
    expect(prefill.received[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json', 'x-request-id': expect.any(String) as string })
    expect(prefill.received[0]?.body).toContain('"seed":12345678901234567890')
    expect(prefill.received[0]?.body).toContain('"max_tokens":1,')
    expect(decode.received[0]?.body).toContain('"max_tokens":7')
    expect(decode.received[0]?.body).toContain('"big":12345678901234567890')
    expect(decode.received[0]?.body).toContain('"remote_host":"127.0.0.1"')
    expect(decode.received[0]?.headers).toMatchObject({ 'routing-strategy': 'pd', 'target-pod': expect.stringContaining('127.0.0.1:') as string, 'x-request-id': prefill.received[0]?.headers['x-request-id'] })
    expect(decode.received[0]?.headers['x-prefiller-host-port']).toBeUndefined()
  })
})

describe('a prefill that fails before its decode', () => {
  it.each([
    ['answers 500', answering(500, 'server error'), 'http_error', 'status 500: server error'],
    ['answers 204', answering(204, ''), 'http_error', 'status 204'],
    ['answers 202', answering(202, '{}'), 'http_error', 'status 202'],
    ['answers HTML', answering(200, '<html></html>'), undefined, 'not a JSON object: <html>'],
    ['answers a list', answering(200, '[]'), undefined, 'not a JSON object'],
    ['answers parameters of the wrong type', answering(200, '{"kv_transfer_params":5}'), undefined, 'not an object'],
    ['breaks the connection', (_request, response) => response.destroy(), 'error', ''],
    ['gives no answer in time', silent, 'deadline_exceeded', 'no reply within 1000 ms'],
  ] satisfies readonly (readonly [string, Behaviour, string | undefined, string])[])('%s: 503, no decode, nothing held', async (_case, behaviour, label, message) => {
    const { server, decode, held, metrics } = await start('vllm', behaviour, { prefillRequestTimeout: 1 })
    const { status, text, headers } = await ask(server.url, chat('hi'))
    expect(status).toBe(503)
    expect(text).toContain('error on selecting target pod')
    expect(text).toContain('"code":"service_unavailable"')
    expect(text).toContain(message)
    expect(headers.get('x-request-id')).not.toBeNull()
    expect([headers.get('x-error-routing'), headers.get('prefill-target-pod'), headers.get('prefill-target-pod-ip'), headers.get('target-pod')]).toEqual(['true', 'prefill-0', '127.0.0.1', null])
    expect(decode.received).toEqual([])
    expect(await held()).toEqual(NOTHING)
    const told = await metrics()
    expect(told).toMatch(/gateway_prefill_request_fail_total\{[^}]*status="pd-do-prefill-request-error"[^}]*\} 1\n/)
    if (label !== undefined) expect(told).toMatch(new RegExp(`gateway_prefill_request_fail_total\\{[^}]*status="${label}"[^}]*\\} 1\\n`))
    expect(told).not.toContain('gateway_prefill_request_success_total{')
  })

  it('goes on without parameters where the reply has none', async () => {
    const { server, decode } = await start('vllm', answering(200, '{"choices":[]}'))
    expect((await ask(server.url, chat('hi'))).status).toBe(200)
    expect(decode.received[0]?.body).toBe(JSON.stringify(chat('hi')))
  })

  it('cannot be reached: 503', async () => {
    const { server, prefill, held } = await start('vllm', silent)
    await prefill.close()
    expect((await ask(server.url, chat('hi'))).status).toBe(503)
    expect(await held()).toEqual(NOTHING)
    await prefill.listen()
  })
})

describe('a prefill that fails beside its decode', () => {
  it('ends the decode that would wait for ever, and answers 502 within a second', async () => {
    const { server, decode, held } = await start('sglang', answering(500, 'no'))
    decode.behaviour = silent
    const began = performance.now()
    const { status, text } = await ask(server.url, chat('hi'))
    expect(performance.now() - began).toBeLessThan(1000)
    expect(status).toBe(502)
    expect(text).toContain('status 500: no')
    await decode.until(({ broken, received }) => received.length === 0 || broken === 1)
    expect(await held()).toEqual(NOTHING)
    expect(server.lines.join('')).toMatch(/prefill_request_failed: .*status 500: no/)
  })

  it('does not take an answer away that has begun', async () => {
    const { server, decode, prefill, held } = await start('sglang', silent)
    let fail: (() => void) | undefined
    prefill.behaviour = (request, response) => { fail = () => answering(500, 'late')(request, response) }
    decode.behaviour = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[]}\n\n')
      void prefill.until(() => fail !== undefined).then(() => {
        fail?.()
        setImmediate(() => response.end('data: [DONE]\n\n'))
      })
    }
    const { status, text } = await ask(server.url, chat('hi', { stream: true }))
    expect([status, text.endsWith('data: [DONE]\n\n')]).toEqual([200, true])
    expect(await held()).toEqual(NOTHING)
  })

  it('has the same meeting point in both bodies, and refuses one that a client names twice', async () => {
    const { server, decode, prefill } = await start('sglang', answering(200, '{}'))
    await ask(server.url, chat('hi'))
    await prefill.until(({ received }) => received.length === 1)
    const room = (body: string | undefined): string | undefined => /"bootstrap_room":(\d+)/.exec(body ?? '')?.[1]
    expect(room(decode.received[0]?.body)).toBeDefined()
    expect(room(prefill.received[0]?.body)).toBe(room(decode.received[0]?.body))
    const doubled = await ask(server.url, '{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"stream":false}')
    expect(doubled.status).toBe(400)
    expect(doubled.text).toContain('duplicate top-level key')
    expect(doubled.headers.get('x-error-routing')).toBe('true')
  })
})

describe('what comes after a prefill', () => {
  it('a decode that fails is tried elsewhere, or told when there is no other', async () => {
    const { server, decode, held } = await start('vllm', answering(200, REPLY))
    decode.behaviour = (_request, response) => response.destroy()
    expect((await ask(server.url, chat('hi'))).status).toBeGreaterThanOrEqual(500)
    expect(await held()).toEqual(NOTHING)
  })

  it('a client that leaves while the prefill runs ends it', async () => {
    const { server, prefill, held } = await start('vllm', silent)
    const leaving = new AbortController()
    const asked = ask(server.url, chat('hi'), leaving.signal).catch(() => 'left')
    await prefill.until(({ received }) => received.length === 1)
    leaving.abort()
    expect(await asked).toBe('left')
    await prefill.until(({ broken }) => broken === 1)
    expect(await held()).toEqual(NOTHING)
  })

  it('a client that leaves while it decodes ends that', async () => {
    const { server, decode, held } = await start('vllm', answering(200, REPLY))
    decode.behaviour = silent
    const leaving = new AbortController()
    const asked = ask(server.url, chat('hi'), leaving.signal).catch(() => 'left')
    await decode.until(({ received }) => received.length === 1)
    leaving.abort()
    expect(await asked).toBe('left')
    await decode.until(({ broken }) => broken === 1)
    expect(await held()).toEqual(NOTHING)
  })
})
