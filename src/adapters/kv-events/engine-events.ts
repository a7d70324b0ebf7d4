import { MsgpackError, unpack } from './msgpack.ts'
import type { Packed } from './msgpack.ts'

/** An engine's own name of a block: a number of 64 bits, a bigint only where it must be, so that equal ones are equal keys. */
export type EngineBlock = number | bigint

export interface BlocksStored {
  readonly kind: 'stored'
  readonly blocks: readonly EngineBlock[]
  /** Undefined where the first block begins the prompt. */
  readonly parent: EngineBlock | undefined
  readonly tokenIds: Uint32Array
  readonly blockTokens: number
  readonly adapter: string
  readonly medium: string
  /** What was hashed into each block beside its tokens; undefined where the engine does not say. */
  readonly extras: readonly (readonly string[])[] | undefined
  /** '' where the engine does not say. */
  readonly cacheKind: string
  /** Which of the engine's caches; undefined where it does not say. */
  readonly group: number | undefined
}

/** Blocks stored in a cache in which nothing is found by prefix: nothing else of them matters. */
export interface BlocksElsewhere {
  readonly kind: 'elsewhere'
  readonly cacheKind: string
  readonly group: number | undefined
}

export interface BlocksRemoved {
  readonly kind: 'removed'
  readonly blocks: readonly EngineBlock[]
  readonly medium: string
  /** As of what is stored; the kind of that cache is told only there. */
  readonly group: number | undefined
}

export type EngineEvent = BlocksStored | BlocksElsewhere | BlocksRemoved | { readonly kind: 'cleared' }

export interface EngineBatch {
  readonly events: readonly EngineEvent[]
  /** Events of an unknown sort. */
  readonly skipped: number
}

/** Caches whose blocks can be found by prefix. (llm-d: KV events) */
const PREFIX_CACHES: readonly string[] = ['full_attention', 'mla_attention', 'sink_full_attention']

/** Whether blocks of such a cache are found by prefix; one whose kind was not told is taken to be the engine's only one. */
export const isPrefixCache = (kind: string): boolean => kind === '' || PREFIX_CACHES.includes(kind)

/** The order of an event's fields after its tag, where it is an array. (vLLM: KV events) */
const STORED_FIELDS = ['block_hashes', 'parent_block_hash', 'token_ids', 'block_size', 'lora_id', 'medium', 'lora_name', 'extra_keys', 'group_idx', 'kv_cache_spec_kind', 'sliding_window']
const REMOVED_FIELDS = ['block_hashes', 'medium', 'group_idx']

/**
 * Reads what an engine publishes: [time, [events], rank].
 * @throws MsgpackError where it is something else
 */
export const readEvents = (payload: Uint8Array): EngineBatch => {
  const batch = unpack(payload)
  const list = isList(batch) ? batch[1] : undefined
  if (!isList(list)) throw new MsgpackError('the message is no batch of events')
  const events: EngineEvent[] = []
  let skipped = 0
  for (const item of list) {
    const event = eventOf(item)
    if (event === undefined) skipped += 1
    else events.push(event)
  }
  return { events, skipped }
}

const eventOf = (item: Packed): EngineEvent | undefined => {
  const tag = isList(item) ? item[0] : isMap(item) ? item.get('type') : undefined
  switch (tag) {
    case 'BlockStored':
      return storedOf(fieldsOf(item, STORED_FIELDS))
    case 'BlockRemoved': {
      const field = fieldsOf(item, REMOVED_FIELDS)
      return { kind: 'removed', blocks: blocksOf(field('block_hashes')), medium: mediumOf(field('medium')), group: groupOf(field('group_idx')) }
    }
    case 'AllBlocksCleared':
      return { kind: 'cleared' }
    default:
      return undefined
  }
}

const storedOf = (field: (name: string) => Packed): BlocksStored | BlocksElsewhere => {
  const kind = field('kv_cache_spec_kind')
  const cacheKind = typeof kind === 'string' ? kind : ''
  const group = groupOf(field('group_idx'))
  if (!isPrefixCache(cacheKind)) return { kind: 'elsewhere', cacheKind, group }
  const parent = field('parent_block_hash')
  const blockTokens = field('block_size')
  const adapter = field('lora_name')
  if (typeof blockTokens !== 'number' || !Number.isInteger(blockTokens) || blockTokens < 1) throw new MsgpackError('block_size is no number of tokens')
  const name = typeof adapter === 'string' ? adapter : ''
  return {
    kind: 'stored',
    blocks: blocksOf(field('block_hashes')),
    parent: parent === null ? undefined : blockOf(parent),
    tokenIds: tokensOf(field('token_ids')),
    blockTokens,
    adapter: name,
    medium: mediumOf(field('medium')),
    extras: extrasOf(field('extra_keys'), name),
    cacheKind,
    group,
  }
}

const groupOf = (value: Packed): number | undefined => (typeof value === 'number' ? value : undefined)

/** The fields of an event in either form; null where absent. */
const fieldsOf = (item: Packed, names: readonly string[]): ((name: string) => Packed) => {
  if (isMap(item)) return (name) => item.get(name) ?? null
  return (name) => (isList(item) ? (item[1 + names.indexOf(name)] ?? null) : null)
}

const blocksOf = (value: Packed): readonly EngineBlock[] => {
  if (!isList(value)) throw new MsgpackError('block_hashes is no list')
  return value.map(blockOf)
}

/** Of a hash in bytes the last eight count. (llm-d: KV events) */
const blockOf = (value: Packed): EngineBlock => {
  if (typeof value === 'number' && value >= 0) return value
  if (typeof value === 'number' || typeof value === 'bigint') return narrowed(BigInt.asUintN(64, BigInt(value)))
  if (!(value instanceof Uint8Array)) throw new MsgpackError('a block hash is neither number nor bytes')
  let hash = 0n
  for (const byte of value.subarray(Math.max(0, value.length - 8))) hash = (hash << 8n) | BigInt(byte)
  return narrowed(hash)
}

const narrowed = (hash: bigint): EngineBlock => (hash <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(hash) : hash)

const tokensOf = (value: Packed): Uint32Array => {
  if (!isList(value)) throw new MsgpackError('token_ids is no list')
  const ids = new Uint32Array(value.length)
  for (let at = 0; at < value.length; at++) {
    const id = value[at]
    // What is no whole number of 32 bits is another one afterwards.
    if (typeof id !== 'number' || id >>> 0 !== id) throw new MsgpackError('a token id is none')
    ids[at] = id
  }
  return ids
}

const mediumOf = (value: Packed): string => (typeof value === 'string' && value !== '' ? value.toLowerCase() : 'gpu')

/** Of each block the texts in it. The adapter is hashed in by its name already; a medium comes as its hash, alone or with its place. */
const extrasOf = (value: Packed, adapter: string): readonly (readonly string[])[] | undefined => {
  if (!isList(value)) return undefined
  return value.map((block) => (isList(block) ? block.flatMap((item) => textOf(item)).filter((text) => adapter === '' || text !== adapter) : []))
}

const textOf = (item: Packed): readonly string[] => {
  if (typeof item === 'string') return [item]
  return isList(item) && typeof item[0] === 'string' ? [item[0]] : []
}

const isList = (value: Packed | undefined): value is readonly Packed[] => Array.isArray(value)
const isMap = (value: Packed | undefined): value is ReadonlyMap<Packed, Packed> => value instanceof Map
