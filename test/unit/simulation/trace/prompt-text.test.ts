import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { promptText } from '../../../../src/simulation/trace/prompt-text.ts'
import { readTrace } from '../../../../src/simulation/trace/trace.ts'
import type { TraceRequest } from '../../../../src/simulation/trace/trace-request.ts'

const ROLE = 'user'

/** The prompt as an endpoint sees it: the role, then the text. */
const seen = (request: TraceRequest): string => ROLE + promptText(request).toString('latin1')

function given(change: Partial<TraceRequest>): TraceRequest {
  return { index: 0, atMs: 0, inputTokens: 64, outputTokens: 1, blockTokens: 16, blockIds: [], scope: '', ...change }
}

function commonTokens(a: string, b: string): number {
  let same = 0
  while (same < a.length && same < b.length && a[same] === b[same]) same++
  return Math.floor(same / 4)
}

/** A trace of prompts that share prefixes at random, ids given as in the real ones: one for each prefix. */
const sharing = fc.record({
  blockTokens: fc.constantFrom(16, 64, 512),
  prompts: fc.array(fc.record({ choices: fc.array(fc.nat(1), { minLength: 1, maxLength: 6 }), cut: fc.nat(511) }), { minLength: 2, maxLength: 6 }),
}).map(({ blockTokens, prompts }) => {
  const ids = new Map<string, number>()
  return prompts.map(({ choices, cut }, index) => {
    const blockIds = choices.map((_, i) => {
      const path = choices.slice(0, i + 1).join()
      if (!ids.has(path)) ids.set(path, ids.size)
      return ids.get(path) as number
    })
    return given({ index, blockTokens, blockIds, inputTokens: choices.length * blockTokens - (cut % (blockTokens - 1)) })
  })
})

describe('prompt text', () => {
  it('has exactly the tokens of the trace once the role is counted', () => {
    fc.assert(fc.property(sharing, (requests) => {
      for (const request of requests) expect(seen(request).length).toBe(request.inputTokens * 4)
    }))
  })

  it('shares exactly the blocks that the ids share, at the block borders of the trace', () => {
    fc.assert(fc.property(sharing, (requests) => {
      for (const a of requests) {
        for (const b of requests) {
          const shared = a.blockIds.findIndex((id, i) => id !== b.blockIds[i])
          const blocks = shared < 0 ? a.blockIds.length : shared
          const tokens = Math.min(blocks * a.blockTokens, a.inputTokens, b.inputTokens)
          const common = commonTokens(seen(a), seen(b))
          expect(common).toBeGreaterThanOrEqual(tokens)
          // Where blocks differ they do so in their first 16 tokens, so that no cache block of that size matches.
          expect(Math.floor(common / 16)).toBe(Math.floor(tokens / 16))
        }
      }
    }))
  })

  it('is the same text for the same request, of characters that JSON does not escape', () => {
    const request = given({ inputTokens: 5000, blockTokens: 512, blockIds: [3, 1, 4, 1, 5, 9, 2, 6, 5, 35] })
    const text = promptText(request).toString('latin1')
    expect(promptText(request).toString('latin1')).toBe(text)
    expect(JSON.stringify(text)).toBe(`"${text}"`)
    expect(text).toMatch(/^[ -~]*$/)
  })

  it('keeps equal ids of different sessions apart, even with names of any length and characters', () => {
    const names = ['', 'a', 'a:1', 'a~0.0', `${'long'.repeat(40)}1`, `${'long'.repeat(40)}2`, 'quote"', 'back\\slash', 'ü']
    const texts = names.map((scope) => promptText(given({ scope, blockIds: [1, 2, 3, 4] })).toString('latin1').slice(0, 60))
    expect(new Set(texts).size).toBe(names.length)
  })

  it('gives tokens without ids to their request alone', () => {
    const a = given({ index: 1, blockIds: [1, 2], inputTokens: 60 })
    const b = given({ index: 2, blockIds: [1, 2], inputTokens: 60 })
    expect(Math.floor(commonTokens(seen(a), seen(b)) / 16)).toBe(2)
    expect(Math.floor(commonTokens(seen(given({ index: 1 })), seen(given({ index: 2 }))) / 16)).toBe(0)
  })

  it('separates plays by their salt', () => {
    const request = given({ blockIds: [1, 2, 3, 4] })
    const salted = ROLE + promptText(request, 1, 'second').toString('latin1')
    expect(Math.floor(commonTokens(seen(request), salted) / 16)).toBe(0)
  })

  it('leaves nothing out without a role, and is never empty', () => {
    const request = given({ blockIds: [1, 2, 3, 4] })
    expect(promptText(request, 0).toString('latin1').slice(4)).toBe(promptText(request, 1).toString('latin1'))
    expect(promptText(given({ inputTokens: 1 }))).toHaveLength(1)
  })

  it('gives every block of a real trace a text of its own', async () => {
    const file = new URL('../../../data/traces/mooncake-conversation.jsonl', import.meta.url).pathname
    const texts = new Map<string, number>()
    for await (const request of readTrace(file)) {
      const text = seen(request)
      for (const [block, id] of request.blockIds.entries()) {
        const start = block * 512 * 4
        if (text.length < start + 64) continue
        const head = text.slice(start, start + 64)
        expect(texts.get(head) ?? id).toBe(id)
        texts.set(head, id)
      }
    }
    expect(texts.size).toBeGreaterThan(5_000)
  })
})
