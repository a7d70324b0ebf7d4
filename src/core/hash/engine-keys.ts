import { CborDigest } from './cbor-digest.ts'
import { Fnv1a64 } from './fnv.ts'
import { xxh64Into } from './xxh64.ts'

/** The ways of hashing that KV events and requests have in common. (llm-d: hashAlgorithm) */
export type EngineHash = 'cbor-fnv' | 'xxh64'

const ENGINE_HASHES: readonly EngineHash[] = ['cbor-fnv', 'xxh64']

export const isEngineHash = (kind: string): kind is EngineHash => (ENGINE_HASHES as readonly string[]).includes(kind)

/** Bytes of one key; keys are little-endian, one after the other. */
export const KEY_BYTES = 8

/** What is hashed into a block beside its tokens: of each block its texts, in order; undefined where no block has any. */
export type BlockExtras = readonly (readonly string[])[] | undefined

const encoder = new TextEncoder()
const digest = new CborDigest()
const words = new Uint32Array(2)

/**
 * The key before the first block: of a model, or of the adapter where a request names one. (llm-d: block keys)
 * "cbor-fnv": FNV-1a-64 of the CBOR of [FNV-1a-64(seed), null, model]. "xxh64": XXH64 of XXH64(seed) and the model.
 */
export const rootKey = (kind: EngineHash, seed: string, model: string): Uint8Array => {
  const seedBytes = encoder.encode(seed)
  const key = new Uint8Array(KEY_BYTES)
  if (kind === 'xxh64') {
    xxh64Into(seedBytes, 0, seedBytes.length, 0, 0, words, 0)
    xxhBlock(words[0] as number, words[1] as number, NO_TOKENS, 0, 0, [model])
  } else {
    const fnv = new Fnv1a64()
    fnv.bytes(seedBytes)
    digest.begin()
    digest.array(3)
    digest.unsigned64(fnv.low, fnv.high)
    digest.nothing()
    digest.text(model)
    words[0] = digest.low
    words[1] = digest.high
  }
  put(key, 0)
  return key
}

/**
 * The keys of the full blocks of `tokens`, each chained to the one before and the first to `parent`; a rest of less than
 * a block has no key. (llm-d: block keys)
 * @throws RangeError when the extras are not of just these blocks
 */
export const engineKeys = (kind: EngineHash, parent: Uint8Array, tokens: Uint32Array, blockTokens: number, extras: BlockExtras): Uint8Array => {
  const blocks = blockTokens < 1 ? 0 : Math.floor(tokens.length / blockTokens)
  if (extras !== undefined && extras.length !== blocks) throw new RangeError(`extras of ${extras.length} blocks for ${blocks} full blocks`)
  const keys = new Uint8Array(KEY_BYTES * blocks)
  words[0] = wordAt(parent, 0)
  words[1] = wordAt(parent, 4)
  const hash = kind === 'xxh64' ? xxhBlock : cborBlock
  for (let block = 0; block < blocks; block++) {
    hash(words[0] as number, words[1] as number, tokens, block * blockTokens, (block + 1) * blockTokens, extras?.[block] ?? NO_EXTRAS)
    put(keys, KEY_BYTES * block)
  }
  return keys
}

const NO_TOKENS = new Uint32Array(0)
const NO_EXTRAS: readonly string[] = []

const cborBlock = (low: number, high: number, tokens: Uint32Array, start: number, end: number, extras: readonly string[]): void => {
  digest.begin()
  digest.array(3)
  digest.unsigned64(low, high)
  digest.array(end - start)
  digest.numbers(tokens, start, end)
  if (extras.length === 0) digest.nothing()
  else digest.array(extras.length)
  for (const extra of extras) {
    digest.map(1)
    digest.text('Hash')
    digest.text(extra)
  }
  words[0] = digest.low
  words[1] = digest.high
}

let room = new Uint8Array(1024)

const xxhBlock = (low: number, high: number, tokens: Uint32Array, start: number, end: number, extras: readonly string[]): void => {
  const texts = extras.length === 0 ? NO_BYTES : extras.map((extra) => encoder.encode(extra))
  const length = texts.reduce((sum, text) => sum + 8 + text.length, 8 + 4 * (end - start))
  if (room.length < length) room = new Uint8Array(2 * length)
  putWord(room, 0, low)
  putWord(room, 4, high)
  let at = 8
  for (let token = start; token < end; token++, at += 4) putWord(room, at, tokens[token] as number)
  for (const text of texts) {
    putWord(room, at, text.length)
    putWord(room, at + 4, 0)
    room.set(text, at + 8)
    at += 8 + text.length
  }
  xxh64Into(room, 0, length, 0, 0, words, 0)
}

const NO_BYTES: readonly Uint8Array[] = []

const put = (bytes: Uint8Array, at: number): void => {
  putWord(bytes, at, words[0] as number)
  putWord(bytes, at + 4, words[1] as number)
}

const putWord = (bytes: Uint8Array, at: number, word: number): void => {
  bytes[at] = word
  bytes[at + 1] = word >>> 8
  bytes[at + 2] = word >>> 16
  bytes[at + 3] = word >>> 24
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)) >>> 0
