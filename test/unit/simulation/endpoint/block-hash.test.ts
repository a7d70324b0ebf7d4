import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockKeys, textKey } from '../../../../src/simulation/endpoint/block-hash.ts'

const BLOCK_TOKENS = 4
const BLOCK_BYTES = BLOCK_TOKENS * 4

describe('block keys', () => {
  it('has a key for each full block and none for the rest', () => {
    expect(blockKeys(new Uint8Array(BLOCK_BYTES * 3 + 4), BLOCK_TOKENS, '')).toHaveLength(3)
    expect(blockKeys(new Uint8Array(BLOCK_BYTES - 4), BLOCK_TOKENS, '')).toHaveLength(0)
  })

  it('shares exactly the keys of the common prefix in full blocks', () => {
    const bytes = fc.uint8Array({ minLength: BLOCK_BYTES, maxLength: BLOCK_BYTES * 6 })
    fc.assert(fc.property(bytes, fc.nat(), fc.integer({ min: 1, max: 255 }), (prompt, place, change) => {
      const changedAt = place % prompt.length
      const other = Uint8Array.from(prompt)
      other[changedAt] = (other[changedAt] as number) ^ change
      const keys = blockKeys(Uint8Array.from(prompt), BLOCK_TOKENS, 'm')
      const otherKeys = blockKeys(other, BLOCK_TOKENS, 'm')
      const shared = Math.floor(changedAt / BLOCK_BYTES)
      for (let block = 0; block < keys.length; block++) {
        expect(keys[block] === otherKeys[block]).toBe(block < shared)
      }
    }))
  })

  it('separates prompts by the salt', () => {
    const bytes = new Uint8Array(BLOCK_BYTES)
    expect(blockKeys(bytes, BLOCK_TOKENS, 'a')[0]).not.toBe(blockKeys(bytes, BLOCK_TOKENS, 'b')[0])
  })

  it('does not collide over many short texts and stays a safe integer', () => {
    const keys = Array.from({ length: 200_000 }, (_, i) => textKey(`https://images.example/${i}`))
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.every((key) => Number.isSafeInteger(key) && key >= 0)).toBe(true)
  })
})
