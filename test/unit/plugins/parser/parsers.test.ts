import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ParsedRequest, type Parser, resolveParser } from '../../../../src/core/body.ts'
import type { PluginType } from '../../../../src/core/contract.ts'
import { SchedulingError } from '../../../../src/core/scheduling-error.ts'
import { anthropicParser } from '../../../../src/plugins/parser/anthropic-parser/index.ts'
import { openaiParser } from '../../../../src/plugins/parser/openai-parser/index.ts'
import { passthroughParser } from '../../../../src/plugins/parser/passthrough-parser/index.ts'
import { vllmhttpParser } from '../../../../src/plugins/parser/vllmhttp-parser/index.ts'

const made = (type: PluginType, parameters?: unknown, warn: (message: string) => void = () => undefined): Parser =>
  type.create({ name: type.type, parameters, plugin: () => undefined, warn }) as Parser
const parsers = [openaiParser, anthropicParser, vllmhttpParser, passthroughParser].map((type) => made(type))

const parse = (path: string, body: unknown): ParsedRequest => parseBytes(path, new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)))
const parseBytes = (path: string, bytes: Uint8Array): ParsedRequest => resolveParser(parsers, path).parse(bytes, path, new Map())

const refusal = (run: () => unknown): string => {
  try {
    run()
  } catch (error) {
    if (error instanceof SchedulingError && error.denial.status === 400) return error.message
    throw error
  }
  throw new Error('expected a refusal')
}

const hi = { messages: [{ role: 'user', content: 'hi' }] }

describe('openai-parser', () => {
  it('given a streaming chat, when parsed, then model, bounds and stream options are read', () => {
    const body = { model: 'm', stream: true, stream_options: { include_usage: false }, max_completion_tokens: 7, max_tokens: 9, ...hi }
    expect(parse('/v1/chat/completions', body)).toMatchObject({
      api: 'chat', model: 'm', streaming: true, includeUsage: false, maxOutputTokens: 7, rewritable: true, readsResponse: true,
      body: { kind: 'chat', turns: [{ role: 'user', content: 'hi' }], tools: [], cacheSalt: '' },
    })
  })

  it('given little, when parsed, then what is absent is absent', () => {
    expect(parse('/v1/chat/completions', hi)).toMatchObject({ model: '', streaming: false, includeUsage: undefined, maxOutputTokens: undefined })
  })

  it.each([
    [{ max_completion_tokens: -1, max_tokens: 5 }, 5],
    [{ max_completion_tokens: 1.5 }, undefined],
    [{ max_completion_tokens: '8' }, undefined],
    [{ max_completion_tokens: 0, max_tokens: 5 }, 0],
    [{ max_output_tokens: 3 }, undefined],
  ])('given the bounds %j, when parsed, then output is bounded by %s', (bounds, right) => {
    expect(parse('/v1/chat/completions', { ...hi, ...bounds }).maxOutputTokens).toBe(right)
  })

  it.each([
    ['/v1/completions', { prompt: 'p', max_tokens: 4 }, 'completions', 4],
    ['/v1/completions/render', { prompt: ['a', 'b'] }, 'completions', undefined],
    ['/v1/chat/completions/render', hi, 'chat', undefined],
    ['/v1/embeddings', { input: 'x', max_tokens: 4 }, 'embeddings', undefined],
    ['/v1/responses', { input: 'x', max_output_tokens: 6 }, 'responses', 6],
    ['/v1/conversations', { items: [{ type: 'message' }] }, 'conversations', undefined],
    ['/v1/images/generations', { prompt: 'a cat' }, 'images', undefined],
  ])('given %s, when parsed, then its api is known and bounded its own way', (path, body, api, bound) => {
    expect(parse(path, body)).toMatchObject({ api, maxOutputTokens: bound, body: { kind: api } })
  })

  it.each([
    ['/v1/chat/completions', { messages: [] }, 'messages is required and must not be empty'],
    ['/v1/chat/completions', {}, 'messages is required and must not be empty'],
    ['/v1/chat/completions', { messages: 'hi' }, 'messages must be a list'],
    ['/v1/chat/completions', { messages: [1] }, 'messages[0] must be an object'],
    ['/v1/chat/completions', { messages: [{ role: 1 }] }, 'messages[0].role must be a string'],
    ['/v1/chat/completions', { messages: [{ content: 5 }] }, 'messages[0].content must be a string or a list of parts'],
    ['/v1/chat/completions', { messages: [{ content: ['x'] }] }, 'messages[0].content[0] must be an object'],
    ['/v1/chat/completions', { ...hi, tools: {} }, 'tools must be a list'],
    ['/v1/completions', { prompt: '' }, 'prompt is required and must not be empty'],
    ['/v1/completions', { prompt: {} }, 'prompt must be a string or a list'],
    ['/v1/completions', { prompt: ['a', 1] }, 'prompt must be all strings, all token ids, or all lists of token ids'],
    ['/v1/completions', { prompt: [1, -1] }, 'prompt[1] must be a token id, a whole number from 0 to 4294967295'],
    ['/v1/completions', { prompt: [4294967296] }, 'prompt[0] must be a token id, a whole number from 0 to 4294967295'],
    ['/v1/embeddings', { input: null }, 'input is required'],
    ['/v1/responses', {}, 'input is required'],
    ['/v1/conversations', { items: [] }, 'items is required and must not be empty'],
    ['/v1/images/generations', { prompt: '' }, 'prompt is required and must not be empty'],
    ['/v1/completions', [1], 'the body must be a JSON object'],
    ['/v1/completions', '', 'the request has no body'],
  ])('given %s with %j, when parsed, then it is refused with the place', (path, body, message) => {
    expect(refusal(() => parse(path, body))).toBe(message)
  })

  it('given lists of token ids, when parsed, then each is a prompt', () => {
    expect(parse('/v1/completions', { prompt: [[1, 2], [3]] }).body).toMatchObject({ prompt: { form: 'tokens', prompts: [Uint32Array.of(1, 2), Uint32Array.of(3)] } })
  })

  it('given parameters, when made, then whoever wrote them is told that they have no effect', () => {
    const warnings: string[] = []
    made(openaiParser, { a: 1 }, (message) => warnings.push(message))
    expect(warnings).toHaveLength(1)
  })
})

describe('anthropic-parser', () => {
  it('given blocks of all kinds, when parsed, then tool input and schema are as sent', () => {
    const { body } = parse(
      '/v1/messages',
      `{"model":"c","max_tokens":5,"system":[{"type":"text","text":"s"},{"type":"other"}],
        "tools":[{"name":"t","input_schema":{ "z":1.0 , "a":12345678901234567890}}],
        "messages":[{"role":"user","content":"q"},{"role":"assistant","content":[
          {"type":"thinking","thinking":"hm"},{"type":"text","text":"x [\\"{"},
          {"type":"tool_use","id":"i","name":"t","input":{"b": 1,"a":[ ]}},{"type":"redacted_thinking"}]},
          {"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"r"}]},
          {"type":"image","source":{"type":"url","url":"u"}},{"type":"image","source":{"data":"AA","media_type":"image/png"}},
          {"type":"image","source":{}}]}]}`,
    )
    expect(body).toMatchObject({
      kind: 'messages',
      system: ['s'],
      tools: [{ name: 't', description: '', inputSchema: '{ "z":1.0 , "a":12345678901234567890}', strict: undefined }],
      turns: [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: [{ type: 'thinking', text: 'hm' }, { type: 'text', text: 'x ["{' }, { type: 'tool-use', id: 'i', name: 't', input: '{"b": 1,"a":[ ]}' }] },
        { role: 'user', content: [{ type: 'tool-result', content: [{ type: 'text', text: 'r' }] }, { type: 'image', url: 'u' }, { type: 'image-data', mediaType: 'image/png', data: 'AA' }] },
      ],
    })
  })

  it('given the path that counts tokens, when parsed, then neither body nor response is looked into', () => {
    expect(parse('/v1/messages/count_tokens', 'not json')).toMatchObject({ api: 'raw', rewritable: false, readsResponse: false, body: { kind: 'raw' } })
  })

  it.each([
    [{ messages: [] }, 'messages is required and must not be empty'],
    [{ messages: [{ content: {} }] }, 'messages[0].content must be a string or a list of blocks'],
    [{ ...hi, system: 1 }, 'system must be a string or a list of blocks'],
    [{ ...hi, tools: [{ name: 1 }] }, 'tools[0].name must be a string'],
    [{ messages: [{ content: [{ type: 'tool_result', content: 1 }] }] }, 'messages[0].content[0].content must be a string or a list of blocks'],
  ])('given %j, when parsed, then it is refused with the place', (body, message) => {
    expect(refusal(() => parse('/v1/messages', body))).toBe(message)
  })
})

describe('vllmhttp-parser', () => {
  it('given token ids and features, when parsed, then both are there', () => {
    const body = { model: 'm', token_ids: [1, 2], cache_salt: 's', sampling_params: { max_tokens: 3 }, features: { mm_hashes: { image: ['h'] }, mm_placeholders: { image: [{ offset: 0, length: 1 }] } } }
    expect(parse('/inference/v1/generate', body)).toMatchObject({
      api: 'generate', maxOutputTokens: 3, body: { tokenIds: Uint32Array.of(1, 2), cacheSalt: 's', features: { hashes: new Map([['image', ['h']]]) } },
    })
  })

  it.each([
    [{}, 'token_ids is required and must not be empty'],
    [{ token_ids: [1.5] }, 'token_ids[0] must be a token id, a whole number from 0 to 4294967295'],
    [{ token_ids: [1], features: { mm_hashes: { image: 'h' } } }, 'features.mm_hashes.image must be a list'],
  ])('given %j, when parsed, then it is refused with the place', (body, message) => {
    expect(refusal(() => parse('/inference/v1/generate', body))).toBe(message)
  })
})

describe('passthrough-parser', () => {
  it('given any bytes, when parsed, then nothing of them is looked at', () => {
    expect(parseBytes('/anything', Uint8Array.of(0xff))).toMatchObject({ api: 'raw', model: '', readsResponse: true, rewritable: false })
  })
})

describe('hostile bodies', () => {
  it('given any bytes, when parsed, then they are read or refused, and a refusal quotes none of them', () => {
    const secret = 'zqx'
    fc.assert(
      fc.property(
        fc.constantFrom('/v1/chat/completions', '/v1/completions', '/v1/messages', '/inference/v1/generate', '/v1/responses'),
        fc.oneof(fc.uint8Array(), fc.json().map((text) => new TextEncoder().encode(text)), fc.string().map((text) => new TextEncoder().encode(`{"messages":[{"content":"${secret}${text}`))),
        (path, bytes) => {
          try {
            parseBytes(path, bytes)
          } catch (error) {
            expect(error).toBeInstanceOf(SchedulingError)
            expect((error as Error).message).not.toContain(secret)
          }
        },
      ),
    )
  })

  it.each([
    ['lists', '['.repeat(2_000_000)],
    ['objects', '{"a":'.repeat(500_000)],
    ['a member', `{"messages":[{"role":"user","content":"x"}],"tools":[${'['.repeat(20_000)}${']'.repeat(20_000)}]}`],
  ])('given %s nested beyond measure, when parsed, then it is refused', (_what, body) => {
    expect(refusal(() => parse('/v1/chat/completions', body))).toBe("the body's JSON is nested more than 10000 deep")
  })

  it('given names that objects inherit, when parsed, then they are only names', () => {
    const body = '{"__proto__":{"model":"evil","stream":true},"constructor":{"x":1},"messages":[{"role":"user","content":"x","__proto__":{"content":"evil"}}]}'
    expect(parse('/v1/chat/completions', body)).toMatchObject({ model: '', streaming: false, body: { turns: [{ content: 'x' }] } })
    expect(({} as Record<string, unknown>)['stream']).toBeUndefined()
  })

  it('given a member twice, when parsed, then the last counts', () => {
    expect(parse('/v1/completions', '{"model":"a","prompt":"x","model":"b"}').model).toBe('b')
  })

  it('given whole numbers beyond a double and bytes that are not UTF-8, when parsed, then they do not hinder', () => {
    const bytes = new TextEncoder().encode('{"seed":123456789012345678901234567890,"prompt":"a?b"}')
    bytes[bytes.indexOf(0x3f)] = 0xff
    expect(parseBytes('/v1/completions', bytes).body).toMatchObject({ prompt: { form: 'text', text: 'a\ufffdb' } })
  })

  it('given a cut body, when parsed, then the place is told where it is known', () => {
    expect(refusal(() => parse('/v1/completions', '{"prompt":"x",}'))).toMatch(/^the body is not valid JSON \(at character \d+\)$/)
    expect(refusal(() => parse('/v1/completions', '{"prompt":"x"'))).toMatch(/^the body is not valid JSON/)
  })
})
