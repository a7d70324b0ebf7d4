import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../../src/simulation/endpoint/api-error.ts'
import { parseGenerationRequest } from '../../../../src/simulation/endpoint/generation-request.ts'
import type { Api, GenerationRequest } from '../../../../src/simulation/endpoint/generation-request.ts'
import { MEDIA_TOKENS } from '../../../../src/simulation/endpoint/prompt-bytes.ts'

const parse = (api: Api, body: object): GenerationRequest => parseGenerationRequest(api, JSON.stringify({ model: 'm', ...body }))
const textOf = (request: GenerationRequest): string => new TextDecoder().decode(request.prompt.bytes).replace(/\0+$/, '')
const user = (content: unknown): object => ({ messages: [{ role: 'user', content }] })

describe('generation request', () => {
  it('takes role and content of each chat message without separators', () => {
    const request = parse('chat', { messages: [{ role: 'system', content: 'be brief' }, { role: 'user', content: [{ type: 'text', text: 'hi' }] }] })
    expect(textOf(request)).toBe('systembe briefuserhi')
  })

  it('counts tokens as UTF-8 bytes by four, rounded up', () => {
    fc.assert(fc.property(fc.string({ minLength: 1, unit: 'binary' }), (text) => {
      const bytes = Buffer.byteLength(JSON.parse(JSON.stringify(text)) as string)
      expect(parse('completions', { prompt: text }).prompt.tokens).toBe(Math.ceil(bytes / 4))
    }))
  })

  it('puts a media item at the next token and counts equal items once', () => {
    const image = { type: 'image_url', image_url: { url: 'https://images.example/1.png' } }
    const request = parse('chat', user([{ type: 'text', text: 'what' }, image, image, { type: 'image_url', image_url: { url: 'other' } }]))
    expect(request.prompt.tokens).toBe(2 + 3 * MEDIA_TOKENS)
    expect(request.prompt.media.map((item) => item.source)).toEqual(['https://images.example/1.png', 'other'])
  })

  it.each([
    ['chat', { ...user('x'), max_completion_tokens: 7, max_tokens: 9 }, 7],
    ['chat', { ...user('x'), max_tokens: 9 }, 9],
    ['chat', user('x'), 16],
    ['completions', { prompt: 'x', max_tokens: 3 }, 3],
    ['responses', { input: 'x', max_output_tokens: 5 }, 5],
    ['embeddings', { input: 'x', max_tokens: 5 }, 0],
  ] as const)('reads the output tokens of %s from %j', (api, body, tokens) => {
    expect(parse(api, body).maxTokens).toBe(tokens)
  })

  it('reads instructions and input of responses, and token ids', () => {
    expect(textOf(parse('responses', { instructions: 'be brief', input: 'hi' }))).toBe('be briefhi')
    expect(textOf(parse('responses', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }] }))).toBe('userhi')
    expect(parse('completions', { prompt: [5, 70_000, 9] }).prompt.tokens).toBe(3)
  })

  it.each([
    ['chat', '{', 'not valid JSON'],
    ['chat', '[]', 'must be a JSON object'],
    ['chat', '{"messages":[]}', '`model`'],
    ['chat', '{"model":"m","messages":[]}', '`messages`'],
    ['chat', '{"model":"m","messages":[3]}', '`messages[0]`'],
    ['chat', '{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":0}', '`max_tokens`'],
    ['completions', '{"model":"m","prompt":""}', 'empty'],
    ['completions', '{"model":"m","prompt":["a","b"]}', '`prompt`'],
    ['embeddings', '{"model":"m"}', '`input`'],
  ] as const)('refuses %s %s with 400', (api, text, message) => {
    const refused = (): unknown => parseGenerationRequest(api, text)
    expect(refused).toThrow(ApiError)
    expect(refused).toThrow(message)
  })
})
