import { describe, expect, it } from 'vitest'
import { chatBody, imageOf } from '../../../../src/simulation/play/play-request.ts'
import { promptText } from '../../../../src/simulation/trace/prompt-text.ts'
import type { TraceRequest } from '../../../../src/simulation/trace/trace-request.ts'

const PLAN = { model: 'a "model"', imageShare: 0, maxOutput: 100, salt: '' }
const REQUEST: TraceRequest = { index: 5, atMs: 0, inputTokens: 40, outputTokens: 7, blockTokens: 16, blockIds: [1, 2, 3], scope: '' }
const parse = (request: TraceRequest, change: object = {}): unknown => JSON.parse(chatBody(request, { ...PLAN, ...change }).toString('utf8'))

describe('play request', () => {
  it('is a streaming chat completion with usage, the text and output of the trace', () => {
    expect(parse(REQUEST)).toEqual({
      model: 'a "model"', stream: true, stream_options: { include_usage: true }, max_tokens: 7,
      messages: [{ role: 'user', content: promptText(REQUEST).toString('latin1') }],
    })
  })

  it.each([[0, 1], [7, 7], [500, 100]])('asks for %d output tokens as %d', (outputTokens, max_tokens) => {
    expect(parse({ ...REQUEST, outputTokens })).toMatchObject({ max_tokens })
  })

  it('puts the image after the text, so that prefixes stay shared', () => {
    expect(parse(REQUEST, { imageShare: 1 })).toMatchObject({
      messages: [{
        role: 'user',
        content: [
          { type: 'text', text: promptText(REQUEST).toString('latin1') },
          { type: 'image_url', image_url: { url: imageOf(REQUEST.index, 1) } },
        ],
      }],
    })
  })

  it('gives about the share of requests an image, always the same ones', () => {
    const indexes = Array.from({ length: 20_000 }, (_, index) => index)
    const chosen = indexes.filter((index) => imageOf(index, 0.05) !== undefined)
    expect(chosen.length / indexes.length).toBeCloseTo(0.05, 2)
    expect(indexes.filter((index) => imageOf(index, 0.05) !== undefined)).toEqual(chosen)
    expect(indexes.some((index) => imageOf(index, 0) !== undefined)).toBe(false)
    expect(indexes.every((index) => imageOf(index, 1) !== undefined)).toBe(true)
    expect(new Set(indexes.map((index) => imageOf(index, 1))).size).toBe(64)
  })
})
