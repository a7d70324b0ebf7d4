import { describe, expect, it } from 'vitest'
import { engineKeys, rootKey } from '../../../src/core/hash/engine-keys.ts'
import { maskKeys } from '../../../src/core/hash/siphash.ts'
import { maskOf, shape, untokenized, type WantedKeys } from '../../../src/core/shape.ts'

const approx = (blockTokens: number, maxBlocks?: number): WantedKeys => ({ kind: 'approx', blockTokens, maxBlocks })
const secret = new TextEncoder().encode('sixteen bytes or more')
const hexOf = (bytes: Uint8Array | undefined): string => Array.from(bytes ?? [], (byte) => byte.toString(16).padStart(2, '0')).join('')

describe('shape', () => {
  it('given two wanted block sizes, when shaped, then each prompt has the keys of both, and its counts and media', () => {
    const media = [{ modality: 'image', hash: 'ab', offset: 0, length: 2 }]
    const made = shape({ prompts: [{ tokenIds: Uint32Array.of(1, 2, 3, 4), media }], cacheSalt: '' }, 'm', [approx(2), approx(3)])
    expect(made.tokenized).toBe(true)
    expect(made.prompts).toMatchObject([{ tokens: 4, media, blocks: [{ kind: 'approx', blockTokens: 2 }, { kind: 'approx', blockTokens: 3 }] }])
    expect(hexOf(made.prompts[0]?.blocks[0]?.keys)).toBe('8335947120daeabd51b0611253fbac7a')
    expect(made.prompts[0]?.blocks[1]?.keys).toHaveLength(16)
  })

  it('given a kind that is not known, when shaped, then there are no keys of it', () => {
    const made = shape({ prompts: [{ tokenIds: Uint32Array.of(1), media: [] }], cacheSalt: '' }, 'm', [{ kind: 'other', blockTokens: 4, maxBlocks: undefined }])
    expect(made.prompts[0]?.blocks).toEqual([])
  })

  it('given prompts without a token, when shaped, then the request is not tokenized', () => {
    expect(shape({ prompts: [{ tokenIds: new Uint32Array(0), media: [] }], cacheSalt: '' }, 'm', [approx(4)])).toEqual(untokenized(''))
  })

  it('given a secret, when shaped, then keys differ from those without it and under another, and equal prefixes stay equal', () => {
    const keysOf = (tokens: readonly number[], key?: Uint8Array): string =>
      hexOf(shape({ prompts: [{ tokenIds: Uint32Array.from(tokens), media: [] }], cacheSalt: '' }, 'm', [approx(1)], key).prompts[0]?.blocks[0]?.keys)
    const other = new TextEncoder().encode('sixteen bytes or more!')
    expect(keysOf([1, 2], secret)).not.toBe(keysOf([1, 2]))
    expect(keysOf([1, 2], secret)).not.toBe(keysOf([1, 2], other))
    expect(keysOf([1, 2, 3], secret).slice(0, 32)).toBe(keysOf([1, 2, 4], secret).slice(0, 32))
  })

  it('given a short secret, when shaped, then it is refused', () => {
    expect(() => shape({ prompts: [], cacheSalt: '' }, 'm', [], new Uint8Array(15))).toThrow(/15 bytes, needs at least 16/)
  })

  it('given the keys of KV events, when shaped, then media and cache salt are hashed into the blocks they are in, and the rest has none', () => {
    const wanted = [{ kind: 'cbor-fnv', blockTokens: 2, maxBlocks: undefined, seed: '42' }]
    const media = [{ modality: 'image', hash: 'ab', offset: 1, length: 2 }]
    const made = shape({ prompts: [{ tokenIds: Uint32Array.of(1, 2, 3, 4, 5, 6, 7), media }], cacheSalt: 's' }, 'm', wanted)
    const root = rootKey('cbor-fnv', '42', 'm')
    expect(made.prompts[0]?.blocks).toEqual([{ kind: 'cbor-fnv', blockTokens: 2, keys: engineKeys('cbor-fnv', root, Uint32Array.of(1, 2, 3, 4, 5, 6), 2, [['ab', 's'], ['ab'], []]) }])
    const masked = shape({ prompts: [{ tokenIds: Uint32Array.of(1, 2), media: [] }], cacheSalt: '' }, 'm', wanted, secret)
    const keys = engineKeys('cbor-fnv', root, Uint32Array.of(1, 2), 2, undefined)
    maskKeys(keys, maskOf(secret))
    expect(masked.prompts[0]?.blocks[0]?.keys).toEqual(keys)
  })
})
