import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatStream } from '../../../../src/simulation/play/chat-stream.ts'

const chunk = (content: string): string => `data: {"choices":[{"delta":{"content":${JSON.stringify(content)}}}]}\n\n`
const USAGE = 'data: {"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":3,"total_tokens":123,"prompt_tokens_details":{"cached_tokens":64}}}\n\n'
const DONE = 'data: [DONE]\n\n'

describe('chat stream', () => {
  it('finds end and usage wherever the pieces are cut', () => {
    const text = Buffer.from(chunk(' grün').repeat(100) + USAGE + DONE)
    fc.assert(fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const stream = new ChatStream()
      const borders = [0, ...cuts.toSorted((a, b) => a - b), text.length]
      for (let i = 1; i < borders.length; i++) stream.take(text.subarray(borders[i - 1], borders[i]), i)
      expect(stream.done).toBe(true)
      expect(stream.usage).toEqual({ promptTokens: 120, completionTokens: 3, cachedTokens: 64 })
      expect(stream.error).toBeUndefined()
      expect([stream.firstAtMs, stream.lastAtMs]).toEqual([1, borders.length - 1])
    }))
  })

  it('is not done without its end mark', () => {
    const stream = new ChatStream()
    stream.take(Buffer.from(chunk('data: [DONE] says the text') + USAGE), 1)
    expect(stream.done).toBe(false)
  })

  it('tells what an error event says', () => {
    const stream = new ChatStream()
    stream.take(Buffer.from(`${chunk('a')}data: {"error":{"message":"evicted"}}\n\n`), 1)
    expect(stream.error).toBe('{"error":{"message":"evicted"}}')
    expect(stream.usage).toBeUndefined()
  })

  it('takes usage without details', () => {
    const stream = new ChatStream()
    stream.take(Buffer.from(`data: {"usage":{"prompt_tokens": 5,"completion_tokens": 2}}\n\n${DONE}`), 1)
    expect(stream.usage).toEqual({ promptTokens: 5, completionTokens: 2, cachedTokens: 0 })
  })
})
