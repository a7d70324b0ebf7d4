import { describe, expect, it } from 'vitest'
import { watchFor } from '../../src/adapters/http/response-watch.ts'
import { SseScanner } from '../../src/adapters/http/sse-scanner.ts'
import { UsageMeter } from '../../src/adapters/http/usage.ts'
import { DONE, doorTo, post, token, upstream } from '../integration/http/setting.ts'
import type { Setting, Upstream } from '../integration/http/setting.ts'
import hazards from './cases/sse-and-usage.json' with { type: 'json' }

const scanned = (...chunks: readonly (string | Buffer)[]): { events: string[]; isDone: boolean; finish(): { events: string[]; isDone: boolean } } => {
  const events: string[] = []
  const scanner = new SseScanner((bytes, start, end) => events.push(bytes.toString('utf8', start, end)))
  for (const chunk of chunks) scanner.push(Buffer.from(chunk))
  return {
    events: [...events],
    isDone: scanner.isDone,
    finish: () => {
      scanner.end()
      return { events, isDone: scanner.isDone }
    },
  }
}

const usageAfter = (stream: string): readonly number[] | undefined => {
  const watch = watchFor('text/event-stream', '', { hidesUsage: false, names: undefined })
  const out = Buffer.concat([watch.take(Buffer.from(stream)), watch.end()].flat())
  expect(out.toString()).toBe(stream)
  const usage = watch.usage
  return usage && [usage.promptTokens, usage.completionTokens, usage.totalTokens, usage.cachedTokens, usage.reasoningTokens]
}

const responsesEvent = (type: string, usage: unknown): string => `event: ${type}\ndata: ${JSON.stringify({ type, response: { id: 'r', usage } })}\n\n`
const counts = (input: number, output: number, total: number): object => ({ input_tokens: input, output_tokens: output, total_tokens: total })

const USAGE_FRAME = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}\n\n'

/** A door that accounts for usage, before an endpoint that reports it when asked to, as OpenAI does. */
const accounting = async (forcesUsage = true): Promise<{ setting: Setting; a: Upstream }> => {
  const a = await upstream('a', (_request, response, body) => {
    const asked = (JSON.parse(body.toString()) as { stream_options?: { include_usage?: boolean } }).stream_options?.include_usage === true
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(token('x') + (asked ? USAGE_FRAME : '') + DONE)
  })
  return { setting: await doorTo([a.endpoint], { forcesUsage }), a }
}

/** What each case demands, by its id. */
const checks: ReadonlyMap<string, () => Promise<void> | void> = new Map<string, () => Promise<void> | void>([
  ['BUG-179', () => {
    const inJson = 'data: {"arguments":"// data: [DONE]"}\n\n'
    const given: readonly (readonly [readonly string[], boolean])[] = [
      [['data: [DONE]\n\n'], true],
      [['data: {"x":1}\n\ndata: [DONE]\n\n'], true],
      [['data: [DONE]\r\n\r\n'], true],
      [['data: {"x":1}', '\ndata: [DONE]\n\n'], true],
      [[': a comment', '\ndata: [DONE]\n\n'], true],
      [[inJson], false],
      [['data: [DONE]{"x":1}\n\n'], false],
      [['data: {"text":"', 'data: [DONE]\n\n'], false],
      [['data: [DONE]'], false],
      [['data: [DONE]\n'], false],
      [['data: [DONE]\ndata: x\n\n'], false],
    ]
    expect(given.map(([chunks]) => scanned(...chunks).isDone)).toEqual(given.map(([, done]) => done))
    // Deferred, not lost: the end of the stream decides.
    for (const chunk of ['data: [DONE]', 'data: [DONE]\n']) expect(scanned(chunk).finish().isDone).toBe(true)
    for (const [chunks] of given) {
      for (const hides of [true, false]) {
        const watch = watchFor('text/event-stream', '', { hidesUsage: hides, names: undefined })
        const out = [...chunks.flatMap((chunk) => watch.take(Buffer.from(chunk))), ...watch.end()]
        expect(Buffer.concat(out).toString()).toBe(chunks.join(''))
      }
    }
  }],
  ['BUG-181', () => {
    const start = 'event:message_start\ndata:{"type":"message_start","message":{"model":"m1","usage":{"input_tokens":9,"cache_read_input_tokens":1,"cache_creation_input_tokens":0,"output_tokens":0}}}\n\n'
    const delta = 'event: message_delta\ndata:{"type":"message_delta","usage":{"output_tokens":16}}'
    expect(usageAfter(`${start}${delta}\n\n`)).toEqual([10, 16, 26, 1, 0])
    expect(usageAfter(`${start}${delta}`)).toEqual([10, 16, 26, 1, 0])
    expect(scanned('data:  two spaces\n\n').events).toEqual([' two spaces'])
  }],
  ['BUG-182', () => {
    const stream = Buffer.from(': keepalive\r\n\r\ndata: {"a":1}\r\n\r\ndata: [DONE]')
    const expected = ['{"a":1}', '[DONE]']
    expect(scanned(stream).finish().events).toEqual(expected)
    expect(scanned(...[...stream].map((byte) => Buffer.of(byte))).finish().events).toEqual(expected)
    for (let cut = 0; cut <= stream.length; cut++) {
      expect(scanned(stream.subarray(0, cut), stream.subarray(cut)).finish().events).toEqual(expected)
      const watch = watchFor('text/event-stream', '', { hidesUsage: true, names: undefined })
      const out = [watch.take(stream.subarray(0, cut)), watch.take(stream.subarray(cut)), watch.end()].flat()
      expect(Buffer.concat(out).equals(stream)).toBe(true)
    }
  }],
  ['BUG-183', async () => {
    const bytes = Buffer.concat([Buffer.from('{"choices":[{"delta":{"content":"'), Buffer.from([0xe6, 0xb8, 0x90, 0xf0, 0x9f, 0x98, 0x80]), Buffer.from('"}}]}')])
    const body = Buffer.from('{"model":"渐","messages":["😀"]}')
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const pieces = [Buffer.from('data: '), ...[...bytes].map((byte) => Buffer.of(byte)), Buffer.from('\n\n')]
      const next = (): void => {
        const piece = pieces.shift()
        if (piece === undefined) response.end()
        else response.write(piece, next)
      }
      next()
    })
    const setting = await doorTo([a.endpoint])
    const slowly = new ReadableStream({
      start: (controller) => {
        for (const byte of body) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const response = await fetch(`${setting.url}/v1/chat/completions`, { method: 'POST', body: slowly, duplex: 'half' } as RequestInit)
    const got = Buffer.from(await response.arrayBuffer())
    expect(got.equals(Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')]))).toBe(true)
    expect(a.requests[0]?.body.equals(body)).toBe(true)
    expect(setting.scheduler.story()[0]).toMatchObject({ input: { model: '渐' } })
    const events = scanned(Buffer.from('data: '), ...[...bytes].map((byte) => Buffer.of(byte)), '\n\n').events
    expect(JSON.parse(events[0] ?? '')).toEqual({ choices: [{ delta: { content: '渐😀' } }] })
  }],
  ['BUG-186', () => {
    expect(usageAfter(responsesEvent('response.in_progress', counts(1, 1, 2)))).toBeUndefined()
    expect(usageAfter(responsesEvent('response.in_progress', counts(1, 1, 2)) + responsesEvent('response.completed', counts(31, 3, 34)))).toEqual([31, 3, 34, 0, 0])
    const incomplete = { ...counts(12, 7, 19), input_tokens_details: { cached_tokens: 3 }, output_tokens_details: { reasoning_tokens: 4 } }
    expect(usageAfter(responsesEvent('response.incomplete', incomplete))).toEqual([12, 7, 19, 3, 4])
    expect(usageAfter(responsesEvent('response.failed', counts(8, 2, 10)))).toEqual([8, 2, 10, 0, 0])
    expect(usageAfter(responsesEvent('response.failed', undefined))).toBeUndefined()
    expect(usageAfter(responsesEvent('response.failed', null))).toBeUndefined()
  }],
  ['BUG-189', () => {
    const content = `data: ${JSON.stringify({ choices: [{ delta: { content: 'usage: "usage":{1}' } }] })}\n\n`
    const nested = `data: ${JSON.stringify({ choices: [{ delta: { usage: { prompt_tokens: 99 } } }] })}\n\n`
    expect(usageAfter(content)).toBeUndefined()
    expect(usageAfter(nested)).toBeUndefined()
    expect(usageAfter('data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":5,"total_tokens":10}}\r\n\r\n')).toEqual([5, 5, 10, 0, 0])
    expect(usageAfter('data: {"usage":{bad\n\n')).toBeUndefined()
  }],
  ['BUG-190', async () => {
    const { setting, a } = await accounting()
    const cases: readonly (readonly [options: string, shows: boolean])[] = [
      ['', false], [',"stream_options":{"include_usage":false}', false], [',"stream_options":{"include_usage":true}', true], [',"stream_options":{"other":1}', false],
    ]
    for (const [options, shows] of cases) {
      const text = await (await post(setting, `{"model":"m","stream":true${options}}`)).text()
      expect(text).toBe(token('x') + (shows ? USAGE_FRAME : '') + DONE)
    }
    const sent = a.requests.map(({ body }) => (JSON.parse(body.toString()) as { stream_options: unknown }).stream_options)
    expect(sent).toEqual([{ include_usage: true }, { include_usage: true }, { include_usage: true }, { include_usage: true, other: 1 }])
    for (const told of setting.scheduler.told.values()) expect(told.at(-1)).toMatchObject({ what: 'ended', end: { usage: { promptTokens: 5, completionTokens: 1, totalTokens: 6 } } })
  }],
  ['BUG-191', async () => {
    const on = await accounting()
    await (await post(on.setting, '{"model":"m", "stream":true}')).text()
    expect(on.a.requests[0]?.body.toString()).toBe('{"stream_options":{"include_usage":true},"model":"m", "stream":true}')
    expect(on.a.requests[0]?.headers['content-length']).toBe(String(on.a.requests[0]?.body.length))

    const off = await accounting(false)
    await (await post(off.setting, '{"model":"m", "stream":true}')).text()
    expect(off.a.requests[0]?.body.toString()).toBe('{"model":"m", "stream":true}')
    expect(off.setting.scheduler.story().at(-1)).toMatchObject({ what: 'ended', end: { usage: undefined } })
  }],
  ['BUG-192', async () => {
    const body = '{"model":"m","stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"foo":1}'
    for (const forces of [true, false]) {
      const { setting, a } = await accounting(forces)
      expect(await (await post(setting, body)).text()).toBe(token('x') + USAGE_FRAME + DONE)
      expect(a.requests[0]?.body.toString()).toBe(body)
    }
  }],
  ['BUG-195', () => {
    expect(usageAfter('data: {"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}\n\n')).toEqual([5, 1, 6, 0, 0])
    expect(new UsageMeter().takeEvent(Buffer.from('{"usage":{"prompt_tokens":5}}'))).toBe(true)
  }],
])

describe('hazards of event streams and usage', () => {
  it.each(hazards.cases)('$id: $symptom', async ({ id }) => {
    const check = checks.get(id)
    expect(check).toBeDefined()
    await check?.()
  })
})
