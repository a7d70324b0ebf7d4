import { describe, expect, it } from 'vitest'
import type { Api } from '../../../../src/core/body.ts'
import { upstreamBody } from '../../../../src/adapters/http/request-body.ts'

const sent = (text: string, change: { model?: string; forceUsage?: boolean }, api: Api = 'chat', streaming = true) => {
  const { bytes, hidesUsage } = upstreamBody(Buffer.from(text), api, streaming, { model: change.model, forceUsage: change.forceUsage ?? false })
  return { text: bytes.toString(), hidesUsage }
}

describe('the body for an endpoint', () => {
  it('is the client’s own bytes unless something is asked for', () => {
    const bytes = Buffer.from('{ "model" : "m",  "stream":true, "big":123456789012345678901 }')

    expect(upstreamBody(bytes, 'chat', true, { model: undefined, forceUsage: false }).bytes).toBe(bytes)
  })

  it('has the target model spliced in', () => {
    expect(sent('{"n":12345678901234567890,"model":"a"}', { model: 'b"c' }).text).toBe('{"n":12345678901234567890,"model":"b\\"c"}')
  })

  it('asks for usage where the client did not, and keeps what else it said', () => {
    const cases: readonly (readonly [string, string])[] = [
      ['{"stream":true}', '{"stream_options":{"include_usage":true},"stream":true}'],
      ['{"stream_options":null}', '{"stream_options":{"include_usage":true}}'],
      ['{"stream_options":{}}', '{"stream_options":{"include_usage":true}}'],
      ['{"stream_options":{"include_usage":false}}', '{"stream_options":{"include_usage":true}}'],
      ['{"stream_options":{"other":1}}', '{"stream_options":{"include_usage":true,"other":1}}'],
    ]
    for (const [body, expected] of cases) expect(sent(body, { forceUsage: true })).toEqual({ text: expected, hidesUsage: true })
  })

  it('hides nothing that the client asked for', () => {
    const body = '{"stream_options":{"include_usage":true,"continuous_usage_stats":true}}'

    expect(sent(body, { forceUsage: true })).toEqual({ text: body, hidesUsage: false })
  })

  it('forces nothing on other APIs, on what is no stream, or on what the endpoint will refuse', () => {
    expect(sent('{"a":1}', { forceUsage: true }, 'responses').text).toBe('{"a":1}')
    expect(sent('{"a":1}', { forceUsage: true }, 'chat', false).text).toBe('{"a":1}')
    expect(sent('{"stream_options":"x"}', { forceUsage: true })).toEqual({ text: '{"stream_options":"x"}', hidesUsage: false })
  })

  it('stays JSON when two members are put into an empty object', () => {
    expect(JSON.parse(sent('{}', { model: 'b', forceUsage: true }).text)).toEqual({ model: 'b', stream_options: { include_usage: true } })
    expect(JSON.parse(sent('{"x":1}', { model: 'b', forceUsage: true }).text)).toEqual({ model: 'b', stream_options: { include_usage: true }, x: 1 })
  })
})
