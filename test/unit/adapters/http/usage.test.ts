import { describe, expect, it } from 'vitest'
import { UsageMeter } from '../../../../src/adapters/http/usage.ts'

const afterEvents = (...events: readonly unknown[]): UsageMeter => {
  const meter = new UsageMeter()
  for (const event of events) meter.takeEvent(Buffer.from(typeof event === 'string' ? event : JSON.stringify(event)))
  return meter
}
const numbers = (meter: UsageMeter): readonly number[] | undefined => {
  const usage = meter.usage
  return usage && [usage.promptTokens, usage.completionTokens, usage.totalTokens, usage.cachedTokens, usage.reasoningTokens]
}

describe('usage', () => {
  it('of a chat stream comes from its last chunk, with details', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, prompt_tokens_details: { cached_tokens: 3 }, completion_tokens_details: { reasoning_tokens: 2 } }

    expect(numbers(afterEvents({ choices: [{}], usage: null }, { choices: [], usage }))).toEqual([5, 7, 12, 3, 2])
  })

  it('grows with continuous reports', () => {
    expect(numbers(afterEvents(
      { choices: [{}], usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } },
      { choices: [{}], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } },
    ))).toEqual([5, 2, 7, 0, 0])
  })

  it('of SGLang is in meta_info', () => {
    const meter = new UsageMeter(true)
    meter.takeEvent(Buffer.from('{"text":"a","meta_info":{"prompt_tokens":4,"completion_tokens":2,"cached_tokens":1}}'))

    expect(numbers(meter)).toEqual([4, 2, 6, 1, 0])
  })

  it('of a whole body is found without parsing the rest', () => {
    const meter = new UsageMeter()
    meter.takeBody(Buffer.from('{"choices":[{"text":"\\"usage\\":{}"}],"big":1e999,"usage":{"prompt_tokens":8,"total_tokens":8}}'))

    expect(numbers(meter)).toEqual([8, 0, 8, 0, 0])
  })

  it('is unknown, not zero, where none was told', () => {
    expect(afterEvents({ choices: [] }, 'not json', '[DONE]', '"usage"', '[{"usage":1}]').usage).toBeUndefined()
  })

  it('takes no nonsense for a count', () => {
    expect(numbers(afterEvents({ usage: { prompt_tokens: -1, completion_tokens: 1.5, total_tokens: 'x' } }))).toEqual([0, 0, 0, 0, 0])
    expect(numbers(afterEvents('{"usage":{"prompt_tokens":1e300,"completion_tokens":4}}'))).toEqual([0, 4, 4, 0, 0])
  })

  it('says which frame carries nothing else', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const meter = new UsageMeter()
    const only = (event: unknown): boolean => meter.takeEvent(Buffer.from(JSON.stringify(event)))

    expect(only({ choices: [], usage })).toBe(true)
    expect(only({ usage })).toBe(true)
    expect(only({ choices: [{ delta: {} }], usage })).toBe(false)
    expect(only({ choices: [], usage: null })).toBe(false)
  })
})
