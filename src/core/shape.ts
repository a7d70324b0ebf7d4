import { type BlockExtras, engineKeys, isEngineHash, rootKey } from './hash/engine-keys.ts'
import { maskKeys } from './hash/siphash.ts'
import { chainKeys, type MaskKey } from './hash/xxh64-chain.ts'
import { xxh64, xxh64Into } from './hash/xxh64.ts'
import type { BlockKeys, MediaFeature, PromptShape, RequestShape } from './request.ts'

/** A way of hashing a prompt into block keys that some producer needs. */
export interface WantedKeys {
  /**
   * "approx": XXH64 chain over token ids, seeded with model and cache salt. "cbor-fnv" and "xxh64": the keys that KV
   * events are told in, of full blocks only, with media and cache salt hashed in.
   */
  readonly kind: string
  /** Tokens a block, from 1. */
  readonly blockTokens: number
  /** Blocks at most per prompt; undefined for no bound. */
  readonly maxBlocks: number | undefined
  /** What the keys of KV events begin with; '' where none is given. */
  readonly seed?: string
}

/** One prompt as token ids. Estimated ids are the prompt's own bytes: they go no further than `shape`. */
export interface TokenizedPrompt {
  readonly tokenIds: Uint32Array
  readonly media: readonly MediaFeature[]
}

/** A request's prompts as token ids; the salt is empty where none was given. */
export interface TokenizedRequest {
  readonly prompts: readonly TokenizedPrompt[]
  readonly cacheSalt: string
}

export const APPROX_KEYS = 'approx'

/** The problem of a shape whose tokens are being counted elsewhere: its request waits for them. */
export const AWAITED_TOKENS = 'the tokens are being counted'

/** Bytes that a pool's secret has at least. */
export const SECRET_BYTES_MIN = 16

/**
 * What a scheduler may know of a request's prompts: counts, media, and the block keys of each wanted kind. Neither token
 * ids nor text are in it.
 *
 * Without a secret the keys are the hashes of the specification, which small blocks let one guess the text from. With
 * the pool's secret each key is masked under it (SipHash-2-4), so that equal prefixes still have equal keys and nothing
 * else can be told. Everyone in a pool, agents and data planes included, uses the same secret.
 *
 * Kinds that are not known here are left out: their producer finds no keys. (llm-d: prefix hashing)
 * @throws RangeError when the secret is shorter than `SECRET_BYTES_MIN`.
 */
export const shape = (
  tokenized: TokenizedRequest,
  model: string,
  wanted: readonly WantedKeys[],
  secret?: Uint8Array,
): RequestShape => {
  const mask = secret === undefined ? undefined : maskOf(secret)
  const seed = seedOf(model, tokenized.cacheSalt)
  const prompts: PromptShape[] = []
  let tokens = 0
  for (const prompt of tokenized.prompts) {
    tokens += prompt.tokenIds.length
    const blocks: BlockKeys[] = []
    for (const keys of wanted) {
      const { kind, blockTokens, maxBlocks } = keys
      if (isEngineHash(kind)) blocks.push({ kind, blockTokens, keys: eventKeys(prompt, tokenized.cacheSalt, model, keys, mask) })
      if (kind === APPROX_KEYS) blocks.push({ kind, blockTokens, keys: chainKeys(prompt.tokenIds, blockTokens, maxBlocks, seed[0], seed[1], mask) })
    }
    prompts.push({ tokens: prompt.tokenIds.length, blocks, media: prompt.media })
  }
  return tokens === 0 ? untokenized('') : { tokenized: true, prompts, problem: '' }
}

/** The keys by which KV events name a prompt's blocks. */
const eventKeys = ({ tokenIds, media }: TokenizedPrompt, salt: string, model: string, { kind, blockTokens, maxBlocks, seed = '' }: WantedKeys, mask: MaskKey | undefined): Uint8Array => {
  if (!isEngineHash(kind)) return new Uint8Array(0)
  const tokens = maxBlocks === undefined ? tokenIds : tokenIds.subarray(0, blockTokens * maxBlocks)
  const keys = engineKeys(kind, rootKey(kind, seed, model), tokens, blockTokens, extrasOf(media, Math.floor(tokens.length / blockTokens), blockTokens, salt))
  if (mask !== undefined) maskKeys(keys, mask)
  return keys
}

/** Of each block the hashes of the media that lie in it, and of the first the cache salt too. (llm-d: extra keys) */
const extrasOf = (media: readonly MediaFeature[], blocks: number, blockTokens: number, salt: string): BlockExtras => {
  if ((media.length === 0 && salt === '') || blocks < 1) return undefined
  const extras = Array.from({ length: blocks }, (): string[] => [])
  for (const { hash, offset, length } of media) {
    const last = Math.min(blocks - 1, Math.floor((offset + length - 1) / blockTokens))
    for (let block = Math.floor(offset / blockTokens); block <= last; block++) extras[block]?.push(hash)
  }
  if (salt !== '') extras[0]?.push(salt)
  return extras
}

/** The shape of a request whose tokens could not be counted. */
export const untokenized = (problem: string): RequestShape => ({ tokenized: false, prompts: [], problem })

/** Hash of model and cache salt, joined without a separator, as low and high half. (llm-d: prefix hashing) */
const seedOf = (model: string, cacheSalt: string): readonly [number, number] => {
  const bytes = new TextEncoder().encode(model + cacheSalt)
  xxh64Into(bytes, 0, bytes.length, 0, 0, seedWords, 0)
  return [seedWords[0] as number, seedWords[1] as number]
}

const seedWords = new Uint32Array(2)

/**
 * The key under which a pool's members mask block keys.
 * @throws RangeError when the secret is shorter than `SECRET_BYTES_MIN`.
 */
export const maskOf = (secret: Uint8Array): MaskKey => {
  if (secret.length < SECRET_BYTES_MIN) throw new RangeError(`the pool's secret has ${secret.length} bytes, needs at least ${SECRET_BYTES_MIN}`)
  const mask = new BigUint64Array([xxh64(secret, 0n), xxh64(secret, 1n)])
  return new Uint32Array(mask.buffer)
}
