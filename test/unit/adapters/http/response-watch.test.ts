import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { watchFor } from '../../../../src/adapters/http/response-watch.ts'
import type { ResponseEdits, ResponseWatch } from '../../../../src/adapters/http/response-watch.ts'

const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}\n\n'
const passed = (watch: ResponseWatch, chunks: readonly Buffer[]): string =>
  Buffer.concat([...chunks.flatMap((chunk) => watch.take(chunk)), ...watch.end()]).toString()
const NO_EDITS: ResponseEdits = { hidesUsage: false, names: undefined }
const sse = (hidesUsage: boolean): ResponseWatch => watchFor('text/event-stream; charset=utf-8', '', { hidesUsage, names: undefined })
const RENAMING: ResponseEdits = { hidesUsage: true, names: { from: 'base-7b', to: 'chat-v1' } }

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
    const json = watchFor('application/json', '', NO_EDITS)
    passed(json, [body.subarray(0, 7), body.subarray(7)])
    const audio = watchFor('audio/wav', '', NO_EDITS)
    passed(audio, [Buffer.from([0xff, 0xfe, 0x00])])
    const coded = watchFor('application/json', 'gzip', NO_EDITS)
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

  it('calls the model as the client did, wherever the stream is cut, and touches nothing else', () => {
    const inside = '"arguments":"{\\"model\\":\\"base-7b\\"}","content":"base-7b"'
    const stream = Buffer.from(`: c\r\n\r\ndata: {"model":"base-7b",${inside}}\r\n\r\nevent: x\ndata: {"type":"t","response":{"model" : "base-7b"}}\n\n` +
      `data: {"message":{"model":"base-7b"}}\n\n${USAGE}data: {"model":"other"}\n\ndata: [DONE]\n\n`)
    const expected = stream.toString().replaceAll(/"model"( ?: ?)"base-7b"/g, '"model"$1"chat-v1"').replace(USAGE, '')
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(passed(watchFor('text/event-stream', '', RENAMING), [stream.subarray(0, cut), stream.subarray(cut)])).toBe(expected)
    }
    expect(passed(watchFor('text/event-stream', '', RENAMING), [...stream].map((byte) => Buffer.of(byte)))).toBe(expected)
  })

  it('calls the model so in a body, and says that its length may change', () => {
    const watch = watchFor('application/json', '', RENAMING)

    expect(passed(watch, [Buffer.from('{ "model": "ba'), Buffer.from('se-7b","x":1}')])).toBe('{ "model": "chat-v1","x":1}')
    expect([watch.edits, watchFor('application/json', 'gzip', RENAMING).edits, watchFor('application/json', '', NO_EDITS).edits]).toEqual([true, false, false])
  })

  it('passes what is too large to be edited as it came', () => {
    const large = Buffer.concat([Buffer.from('data: {"model":"base-7b","x":"'), Buffer.alloc(9 * 1024 * 1024, 97), Buffer.from('"}\n\n')])
    const after = Buffer.from('data: {"model":"base-7b"}\n\n')
    const watch = watchFor('text/event-stream', '', RENAMING)
    const pieces = [...Array.from({ length: 10 }, (_, i) => large.subarray(i * 1024 * 1024, (i + 1) * 1024 * 1024)), after]
    const out = passed(watch, pieces)

    expect(out.length).toBe(large.length + after.length)
    expect(out.startsWith('data: {"model":"base-7b"')).toBe(true)
    expect(out.endsWith('"}\n\ndata: {"model":"chat-v1"}\n\n')).toBe(true)
  })
})
