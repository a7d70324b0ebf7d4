// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'

/** The keys of one prompt's blocks, for one way of hashing. */
export interface BlockKeys {
  /** Which hashing: "approx" (XXH64 chain over estimated tokens), "xxh64", "cbor-fnv". */
  kind: string
  /** Tokens per block. */
  blockTokens: number
  /** 8 bytes a key, little-endian, first block first. */
  keys: Uint8Array
}

export function emptyBlockKeys(): BlockKeys {
  return {
    kind: '',
    blockTokens: 0,
    keys: new Uint8Array(0),
  }
}

export function encodeBlockKeys(message: BlockKeys, writer: Writer): Writer {
  if (message.kind !== '') {
    writer.tag(10)
    writer.string(message.kind)
  }
  if (message.blockTokens !== 0) {
    writer.tag(16)
    writer.uint32(message.blockTokens)
  }
  if (message.keys.length > 0) {
    writer.tag(26)
    writer.data(message.keys)
  }
  return writer
}

export function decodeBlockKeys(reader: Reader, length?: number): BlockKeys {
  const message = emptyBlockKeys()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.kind = reader.string()
        break
      case 16:
        message.blockTokens = reader.uint32()
        break
      case 26:
        message.keys = reader.data()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** An image, a video or a sound in a prompt. */
export interface MediaFeature {
  /** "image", "video" or "audio". */
  modality: string
  /** Lower-case hexadecimal, without leading zeros. */
  hash: string
  /** Where its placeholder tokens begin in the prompt, in tokens. */
  offset: number
  /** How many placeholder tokens it has. */
  length: number
}

export function emptyMediaFeature(): MediaFeature {
  return {
    modality: '',
    hash: '',
    offset: 0,
    length: 0,
  }
}

export function encodeMediaFeature(message: MediaFeature, writer: Writer): Writer {
  if (message.modality !== '') {
    writer.tag(10)
    writer.string(message.modality)
  }
  if (message.hash !== '') {
    writer.tag(18)
    writer.string(message.hash)
  }
  if (message.offset !== 0) {
    writer.tag(24)
    writer.uint32(message.offset)
  }
  if (message.length !== 0) {
    writer.tag(32)
    writer.uint32(message.length)
  }
  return writer
}

export function decodeMediaFeature(reader: Reader, length?: number): MediaFeature {
  const message = emptyMediaFeature()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.modality = reader.string()
        break
      case 18:
        message.hash = reader.string()
        break
      case 24:
        message.offset = reader.uint32()
        break
      case 32:
        message.length = reader.uint32()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** One prompt without its text: what a scheduler needs of it and no more. */
export interface PromptShape {
  tokens: number
  blocks: BlockKeys[]
  media: MediaFeature[]
}

export function emptyPromptShape(): PromptShape {
  return {
    tokens: 0,
    blocks: [],
    media: [],
  }
}

export function encodePromptShape(message: PromptShape, writer: Writer): Writer {
  if (message.tokens !== 0) {
    writer.tag(8)
    writer.uint32(message.tokens)
  }
  for (const item of message.blocks) {
    writer.tag(18)
    const start = writer.open()
    encodeBlockKeys(item, writer)
    writer.close(start)
  }
  for (const item of message.media) {
    writer.tag(26)
    const start = writer.open()
    encodeMediaFeature(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodePromptShape(reader: Reader, length?: number): PromptShape {
  const message = emptyPromptShape()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.tokens = reader.uint32()
        break
      case 18:
        message.blocks.push(decodeBlockKeys(reader, reader.uint32()))
        break
      case 26:
        message.media.push(decodeMediaFeature(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A request without its text. */
export interface RequestShape {
  /** False when no producer could count its tokens; then `problem` says why. */
  tokenized: boolean
  prompts: PromptShape[]
  problem: string
}

export function emptyRequestShape(): RequestShape {
  return {
    tokenized: false,
    prompts: [],
    problem: '',
  }
}

export function encodeRequestShape(message: RequestShape, writer: Writer): Writer {
  if (message.tokenized) {
    writer.tag(8)
    writer.bool(message.tokenized)
  }
  for (const item of message.prompts) {
    writer.tag(18)
    const start = writer.open()
    encodePromptShape(item, writer)
    writer.close(start)
  }
  if (message.problem !== '') {
    writer.tag(26)
    writer.string(message.problem)
  }
  return writer
}

export function decodeRequestShape(reader: Reader, length?: number): RequestShape {
  const message = emptyRequestShape()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.tokenized = reader.bool()
        break
      case 18:
        message.prompts.push(decodePromptShape(reader, reader.uint32()))
        break
      case 26:
        message.problem = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Token counts as the endpoint reported them. */
export interface Usage {
  promptTokens: number
  completionTokens: number
  totalTokens: number
  cachedTokens: number
  reasoningTokens: number
}

export function emptyUsage(): Usage {
  return {
    promptTokens: 0,
    completionTokens: 0,
    totalTokens: 0,
    cachedTokens: 0,
    reasoningTokens: 0,
  }
}

export function encodeUsage(message: Usage, writer: Writer): Writer {
  if (message.promptTokens !== 0) {
    writer.tag(8)
    writer.uint64(message.promptTokens)
  }
  if (message.completionTokens !== 0) {
    writer.tag(16)
    writer.uint64(message.completionTokens)
  }
  if (message.totalTokens !== 0) {
    writer.tag(24)
    writer.uint64(message.totalTokens)
  }
  if (message.cachedTokens !== 0) {
    writer.tag(32)
    writer.uint64(message.cachedTokens)
  }
  if (message.reasoningTokens !== 0) {
    writer.tag(40)
    writer.uint64(message.reasoningTokens)
  }
  return writer
}

export function decodeUsage(reader: Reader, length?: number): Usage {
  const message = emptyUsage()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.promptTokens = reader.uint64()
        break
      case 16:
        message.completionTokens = reader.uint64()
        break
      case 24:
        message.totalTokens = reader.uint64()
        break
      case 32:
        message.cachedTokens = reader.uint64()
        break
      case 40:
        message.reasoningTokens = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A request header that the scheduler may see; names in lower case. */
export interface Header {
  name: string
  value: string
}

export function emptyHeader(): Header {
  return {
    name: '',
    value: '',
  }
}

export function encodeHeader(message: Header, writer: Writer): Writer {
  if (message.name !== '') {
    writer.tag(10)
    writer.string(message.name)
  }
  if (message.value !== '') {
    writer.tag(18)
    writer.string(message.value)
  }
  return writer
}

export function decodeHeader(reader: Reader, length?: number): Header {
  const message = emptyHeader()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.name = reader.string()
        break
      case 18:
        message.value = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The endpoints that the caller allows, as "address" or "address:port". A present and empty list allows none. */
export interface Subset {
  addresses: string[]
}

export function emptySubset(): Subset {
  return {
    addresses: [],
  }
}

export function encodeSubset(message: Subset, writer: Writer): Writer {
  for (const item of message.addresses) {
    writer.tag(10)
    writer.string(item)
  }
  return writer
}

export function decodeSubset(reader: Reader, length?: number): Subset {
  const message = emptySubset()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.addresses.push(reader.string())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface RequestReceived {
  /** The client's label. Two live requests may bear the same one. */
  requestId: string
  /** Which front door took it: "http", "nats", "ext-proc" or "api". */
  frontDoor: string
  /** True when the connection lives in this process, and so dies with it. */
  proxied: boolean
  /** "chat", "completions", "embeddings", "responses", "conversations", "images", "messages", "generate", "raw" */
  api: string
  model: string
  targetModel: string
  priority: number
  objective: string
  fairnessId: string
  /** Allow-listed headers only. */
  headers: Header[]
  bodyBytes: number
  streaming: boolean
  /** The client's own bound on output tokens. */
  maxOutputTokens: number | undefined
  shape: RequestShape | undefined
  subset: Subset | undefined
  /** Which parser read the body. */
  parser: string
}

export function emptyRequestReceived(): RequestReceived {
  return {
    requestId: '',
    frontDoor: '',
    proxied: false,
    api: '',
    model: '',
    targetModel: '',
    priority: 0,
    objective: '',
    fairnessId: '',
    headers: [],
    bodyBytes: 0,
    streaming: false,
    maxOutputTokens: undefined,
    shape: undefined,
    subset: undefined,
    parser: '',
  }
}

export function encodeRequestReceived(message: RequestReceived, writer: Writer): Writer {
  if (message.requestId !== '') {
    writer.tag(10)
    writer.string(message.requestId)
  }
  if (message.frontDoor !== '') {
    writer.tag(18)
    writer.string(message.frontDoor)
  }
  if (message.proxied) {
    writer.tag(24)
    writer.bool(message.proxied)
  }
  if (message.api !== '') {
    writer.tag(34)
    writer.string(message.api)
  }
  if (message.model !== '') {
    writer.tag(42)
    writer.string(message.model)
  }
  if (message.targetModel !== '') {
    writer.tag(50)
    writer.string(message.targetModel)
  }
  if (message.priority !== 0) {
    writer.tag(56)
    writer.sint32(message.priority)
  }
  if (message.objective !== '') {
    writer.tag(66)
    writer.string(message.objective)
  }
  if (message.fairnessId !== '') {
    writer.tag(74)
    writer.string(message.fairnessId)
  }
  for (const item of message.headers) {
    writer.tag(82)
    const start = writer.open()
    encodeHeader(item, writer)
    writer.close(start)
  }
  if (message.bodyBytes !== 0) {
    writer.tag(88)
    writer.uint64(message.bodyBytes)
  }
  if (message.streaming) {
    writer.tag(96)
    writer.bool(message.streaming)
  }
  if (message.maxOutputTokens !== undefined) {
    writer.tag(104)
    writer.uint64(message.maxOutputTokens)
  }
  if (message.shape !== undefined) {
    writer.tag(114)
    const start = writer.open()
    encodeRequestShape(message.shape, writer)
    writer.close(start)
  }
  if (message.subset !== undefined) {
    writer.tag(122)
    const start = writer.open()
    encodeSubset(message.subset, writer)
    writer.close(start)
  }
  if (message.parser !== '') {
    writer.tag(130)
    writer.string(message.parser)
  }
  return writer
}

export function decodeRequestReceived(reader: Reader, length?: number): RequestReceived {
  const message = emptyRequestReceived()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.requestId = reader.string()
        break
      case 18:
        message.frontDoor = reader.string()
        break
      case 24:
        message.proxied = reader.bool()
        break
      case 34:
        message.api = reader.string()
        break
      case 42:
        message.model = reader.string()
        break
      case 50:
        message.targetModel = reader.string()
        break
      case 56:
        message.priority = reader.sint32()
        break
      case 66:
        message.objective = reader.string()
        break
      case 74:
        message.fairnessId = reader.string()
        break
      case 82:
        message.headers.push(decodeHeader(reader, reader.uint32()))
        break
      case 88:
        message.bodyBytes = reader.uint64()
        break
      case 96:
        message.streaming = reader.bool()
        break
      case 104:
        message.maxOutputTokens = reader.uint64()
        break
      case 114:
        message.shape = decodeRequestShape(reader, reader.uint32())
        break
      case 122:
        message.subset = decodeSubset(reader, reader.uint32())
        break
      case 130:
        message.parser = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
