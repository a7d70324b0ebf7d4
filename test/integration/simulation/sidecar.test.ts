import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import type { SimulatedEndpoint } from '../../../src/simulation/endpoint/endpoint.ts'
import { legOrigin, legsOf } from '../../../src/simulation/endpoint/sidecar.ts'
import { closed, listening } from '../../story/listening.ts'
import { chat, post, started, stateOf } from './started.ts'

const TEXT = 'four'.repeat(255)
const image = (name: string): object => ({ type: 'image_url', image_url: { url: `https://images.example/${name}.png` } })
const at = (...endpoints: SimulatedEndpoint[]): string => endpoints.map(({ address, port }) => `${address.includes(':') ? `[${address}]` : address}:${port}`).join(',')
const cached = (body: Readonly<Record<string, unknown>>): unknown => (body['usage'] as { prompt_tokens_details: { cached_tokens: number } }).prompt_tokens_details.cached_tokens

describe('decode endpoint with its sidecar', () => {
  it('given a prefiller, when asked, then prefill and decode each serve their leg', async () => {
    const [prefill, decode] = [await started({ role: 'prefill' }), await started({ role: 'decode' })]
    const { status, body } = await post(`${decode.url}/v1/chat/completions`, chat(TEXT), { 'x-prefiller-host-port': at(prefill) })
    expect(status).toBe(200)
    expect(body).toMatchObject({ usage: { prompt_tokens: 256, completion_tokens: 4 } })
    expect(prefill.state().served).toEqual({ encode: 0, prefill: 1, decode: 0, plain: 0 })
    expect(decode.state().served).toEqual({ encode: 0, prefill: 0, decode: 1, plain: 0 })
    expect(prefill.state().generationTokens).toBe(1)
  })

  it.each(['/v1/chat/completions', '/v1/completions', '/v1/responses'])('given a streamed request to %s, then the answer streams to its end', async (path) => {
    const [prefill, decode] = [await started({ role: 'prefill' }), await started({ role: 'decode' })]
    const body = { ...chat(TEXT), prompt: TEXT, input: TEXT, max_output_tokens: 4, stream: true, stream_options: { include_usage: true } }
    const answer = await fetch(decode.url + path, { method: 'POST', headers: { 'x-prefiller-host-port': at(prefill) }, body: JSON.stringify(body) })
    const text = await answer.text()
    expect(answer.status).toBe(200)
    expect(text).toMatch(path === '/v1/responses' ? /"output_tokens":4/ : /"completion_tokens":4/)
    expect(prefill.state().generationTokens).toBe(1)
  })

  it('given a prompt that the prefiller has cached, then the usage shows what the prefiller found, not the decoder', async () => {
    const [prefill, decode, other] = [await started({ role: 'prefill' }), await started({ role: 'decode' }), await started({ role: 'decode' })]
    const ask = (endpoint: SimulatedEndpoint): ReturnType<typeof post> => post(`${endpoint.url}/v1/chat/completions`, chat(TEXT), { 'x-prefiller-host-port': at(prefill) })
    expect(cached((await ask(decode)).body)).toBe(0)
    expect(cached((await ask(other)).body)).toBe(240)
    expect(other.state().cacheHits).toBe(0)
  })

  it('given several prefillers, then the first serves', async () => {
    const [first, second, decode] = [await started({ role: 'prefill' }), await started({ role: 'prefill' }), await started({ role: 'decode' })]
    await post(`${decode.url}/v1/chat/completions`, chat(TEXT), { 'x-prefiller-host-port': at(first, second) })
    expect([first.state().served.prefill, second.state().served.prefill]).toEqual([1, 0])
  })

  it('given encoders, then each media item is encoded once, round robin, before the prefill', async () => {
    const encoders = [await started({ role: 'encode' }), await started({ role: 'encode' })]
    const [prefill, decode] = [await started({ role: 'prefill' }), await started({ role: 'decode' })]
    const content = [{ type: 'text', text: TEXT }, image('a'), image('b'), image('a'), image('c')]
    const { status } = await post(`${decode.url}/v1/chat/completions`, chat(content), {
      'x-encoder-hosts-ports': at(...encoders), 'x-prefiller-host-port': at(prefill),
    })
    expect(status).toBe(200)
    expect(encoders.map((encoder) => encoder.state().served.encode)).toEqual([2, 1])
    expect([prefill.state().served.prefill, decode.state().served.decode]).toEqual([1, 1])
  })

  it('given encoders and no prefiller, then the decoder serves the whole with the media encoded elsewhere', async () => {
    const [encoder, decode] = [await started({ role: 'encode' }), await started({ role: 'decode' })]
    await post(`${decode.url}/v1/chat/completions`, chat([image('a')]), { 'x-encoder-hosts-ports': at(encoder) })
    expect([encoder.state().served.encode, decode.state().served.plain]).toEqual([1, 1])
  })

  it('given an encoder that fails, then the client gets 502 and nothing else ran', async () => {
    const [encoder, prefill, decode] = [await started({ role: 'encode' }), await started({ role: 'prefill' }), await started({ role: 'decode' })]
    await encoder.setFaults({ failStatus: 500 })
    const { status, body } = await post(`${decode.url}/v1/chat/completions`, chat([image('a')]), {
      'x-encoder-hosts-ports': at(encoder), 'x-prefiller-host-port': at(prefill),
    })
    expect(status).toBe(502)
    expect(body).toHaveProperty('error.message', `encode leg 0 on ${at(encoder)} failed`)
    expect(prefill.state().served.prefill).toBe(0)
  })

  it.each([500, 503])('given a prefiller that answers %d, then the client gets that answer, untried again', async (failStatus) => {
    const [prefill, decode] = [await started({ role: 'prefill' }), await started({ role: 'decode' })]
    await prefill.setFaults({ failStatus, count: 1 })
    const { status, body } = await post(`${decode.url}/v1/chat/completions`, chat(TEXT), { 'x-prefiller-host-port': at(prefill) })
    expect([status, (body['error'] as { message: string }).message]).toEqual([failStatus, 'fault on demand'])
    expect(decode.state().served.decode).toBe(0)
  })

  it('given a prefiller that is not there, then the client gets 502', async () => {
    const [prefill, decode] = [await started({ role: 'prefill' }), await started({ role: 'decode' })]
    await prefill.setFaults({ refuse: true })
    const { status } = await post(`${decode.url}/v1/chat/completions`, chat(TEXT), { 'x-prefiller-host-port': at(prefill) })
    expect(status).toBe(502)
  })

  it('given a client that leaves during the prefill, then the prefill is aborted and its KV free', async () => {
    const [prefill, decode] = [await started({ role: 'prefill', speed: 0.01 }), await started({ role: 'decode' })]
    const leave = new AbortController()
    const asked = fetch(`${decode.url}/v1/chat/completions`, {
      method: 'POST', headers: { 'x-prefiller-host-port': at(prefill) }, body: JSON.stringify(chat(TEXT)), signal: leave.signal,
    }).catch(() => undefined)
    await stateOf(prefill, ({ running }) => running === 1)
    leave.abort()
    await asked
    expect(await stateOf(prefill, ({ aborted }) => aborted === 1)).toMatchObject({ running: 0, kvBlocksUsed: 0 })
    expect(decode.state().served.decode).toBe(0)
  })

  it('given an endpoint whose role does not decode, then the headers mean nothing to it', async () => {
    const [prefill, other] = [await started({ role: 'prefill' }), await started({ role: 'prefill' })]
    await post(`${other.url}/v1/chat/completions`, chat(TEXT), { 'x-prefiller-host-port': at(prefill) })
    expect([prefill.state().served.prefill, other.state().served.plain]).toEqual([0, 1])
  })

  it('given transfer parameters in the body, then a router may run the two legs itself', async () => {
    const [prefill, decode] = [await started({ role: 'prefill' }), await started()]
    const first = await post(`${prefill.url}/v1/chat/completions`, chat(TEXT, {
      max_tokens: 1, kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false, remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null },
    }))
    expect(first.body['kv_transfer_params']).toMatchObject({
      do_remote_prefill: true, remote_engine_id: prefill.name, remote_host: prefill.address, remote_port: prefill.port, remote_block_ids: Array.from({ length: 16 }, (_, i) => i),
    })
    await post(`${decode.url}/v1/chat/completions`, chat(TEXT, { kv_transfer_params: first.body['kv_transfer_params'] }))
    expect([prefill.state().served.prefill, decode.state().served.decode]).toEqual([1, 1])
  })

  it('sends the prefill leg as the sidecar does: one token, no stream, empty remote fields, a request id of its own', async () => {
    const seen: { headers: Record<string, unknown>; body: Record<string, unknown> }[] = []
    const server = createServer((request, response) => {
      void (async () => {
        let text = ''
        for await (const piece of request) text += String(piece)
        seen.push({ headers: request.headers, body: JSON.parse(text) as Record<string, unknown> })
        response.end(JSON.stringify({ kv_transfer_params: { do_remote_prefill: true }, usage: { prompt_tokens_details: { cached_tokens: 7 } } }))
      })()
    })
    const port = await listening(server)
    const decode = await started({ role: 'decode' })
    const { body } = await post(`${decode.url}/v1/chat/completions`, chat(TEXT, { stream_options: { include_usage: true }, min_tokens: 3, temperature: 0.5 }), {
      'x-prefiller-host-port': `127.0.0.1:${port}`, 'x-request-id': 'mine',
    })
    await closed(server)
    expect(cached(body)).toBe(7)
    expect(seen[0]?.headers['x-request-id']).not.toBe('mine')
    expect(seen[0]?.headers).not.toHaveProperty('x-prefiller-host-port')
    expect(seen[0]?.body).toEqual({
      ...chat(TEXT), max_tokens: 1, max_completion_tokens: 1, min_tokens: 1, temperature: 0.5, stream: false,
      kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false, remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null },
    })
  })

  it('speaks to IPv6 addresses, with brackets or without', async () => {
    expect(legOrigin('[::1]:8000')).toBe('http://[::1]:8000')
    expect(legOrigin('::1:8000')).toBe('http://[::1]:8000')
    expect(legOrigin('10.0.0.1:8000')).toBe('http://10.0.0.1:8000')
    expect(legsOf({ 'x-prefiller-host-port': ' [::1]:1 , b:2', 'x-encoder-hosts-ports': 'c:3,,d:4' })).toEqual({ prefiller: '[::1]:1', encoders: ['c:3', 'd:4'] })
  })
})
