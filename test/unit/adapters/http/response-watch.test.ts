import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { watchFor } from '../../../../src/adapters/http/response-watch.ts'
import type { ResponseWatch } from '../../../../src/adapters/http/response-watch.ts'

const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}\n\n'
const passed = (watch: ResponseWatch, chunks: readonly Buffer[]): string =>
  Buffer.concat([...chunks.flatMap((chunk) => watch.take(chunk)), ...watch.end()]).toString()
const sse = (hides: boolean): ResponseWatch => watchFor('text/event-stream; charset=utf-8', '', hides)

describe('the watch over a response', () => {
  it('passes any bytes of a stream as they came, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), fc.boolean(), (parts, hides) => {
        const chunks = parts.map((part) => Buffer.from(part))
        const watch = sse(hides)
        const out = Buffer.concat([...chunks.flatMap((chunk) => watch.take(chunk)), ...watch.end()])
        expect(out.equals(Buffer.concat(chunks))).toBe(true)
      }),
    )
  })

  it('hides the usage frame and nothing else, however the stream is cut', () => {
    const stream = Buffer.from(`: hello\n\ndata: {"choices":[{"delta":{"content":"渐"}}]}\n\n: c\n${USAGE}data: [DONE]\n\n`)
    const expected = ': hello\n\ndata: {"choices":[{"delta":{"content":"渐"}}]}\n\ndata: [DONE]\n\n'
    for (let first = 0; first <= stream.length; first++) {
      const watch = sse(true)
      expect(passed(watch, [stream.subarray(0, first), stream.subarray(first)])).toBe(expected)
      expect(watch.usage?.totalTokens).toBe(7)
    }
    const byByte = sse(true)
    expect(passed(byByte, [...stream].map((byte) => Buffer.of(byte)))).toBe(expected)
  })

  it('hides a usage frame that ends the stream without an empty line, and one between CRLFs', () => {
    expect(passed(sse(true), [Buffer.from(`data: a\n\n${USAGE.trimEnd()}`)])).toBe('data: a\n\n')
    expect(passed(sse(true), [Buffer.from(`data: a\r\n\r\n${USAGE.replaceAll('\n', '\r\n')}data: [DONE]\r\n\r\n`)])).toBe('data: a\r\n\r\ndata: [DONE]\r\n\r\n')
  })

  it('passes a comment on at once while it hides', () => {
    expect([sse(true).take(Buffer.from(': keep-alive\n\n'))].flat().map(String)).toEqual([': keep-alive\n\n'])
  })

  it('shows the frame to a client who asked for it', () => {
    expect(passed(sse(false), [Buffer.from(USAGE)])).toBe(USAGE)
  })

  it('reads a JSON body cut anywhere, and no other body', () => {
    const body = Buffer.from('{"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}')
    const json = watchFor('application/json', '', false)
    passed(json, [body.subarray(0, 7), body.subarray(7)])
    const audio = watchFor('audio/wav', '', false)
    passed(audio, [Buffer.from([0xff, 0xfe, 0x00])])
    const coded = watchFor('application/json', 'gzip', false)
    passed(coded, [body])

    expect(json.usage?.totalTokens).toBe(7)
    expect(audio.usage).toBeUndefined()
    expect(coded.usage).toBeUndefined()
  })

  it('counts events and knows when a stream is whole', () => {
    const watch = sse(false)
    watch.take(Buffer.from('data: {}\n\ndata: {}\n\n'))
    expect([watch.events, watch.isDone]).toEqual([2, false])
    watch.take(Buffer.from('data: [DONE]\n\n'))
    expect(watch.isDone).toBe(true)
  })
})
