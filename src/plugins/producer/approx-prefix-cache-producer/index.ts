import { type DataKey, fromProducer, PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo, TOKENIZED_PROMPT, type Writer } from '../../../core/attribute.ts'
import type { Consumption, EndpointEvents, PeerLoadReport, PeerLoads, PluginType, PreRequest, Producer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { byCodeUnit } from '../../../core/order.ts'
import type { Request, SchedulingResult } from '../../../core/request.ts'
import { APPROX_KEYS, type WantedKeys } from '../../../core/shape.ts'
import { BlockIndex } from './block-index.ts'
import { MatchInfos } from './match-infos.ts'
import { matchMeasured, sizeMeasured } from './measurements.ts'
import { type ApproxParameters, approxParameters, blockTokensOf, capacityOf, maxBlocksOf, MIN_BLOCK_TOKENS } from './parameters.ts'
import { PromptKeys } from './prompt-keys.ts'
import { loadIndex, saveIndex } from './state.ts'

const TYPE = 'approx-prefix-cache-producer'
const MULTICLUSTER_TYPE = 'multicluster-approx-prefix-cache-producer'

/** The profile whose target holds the prompt's blocks too. Its name is not configurable. (llm-d) */
const PREFILL_PROFILE = 'prefill'
/** Endpoints shown in a dump. */
const SHOWN_MAX = 100
/** Requests between their producing and their dispatch; all that are denied in between are forgotten from here on. */
const PENDING_MAX = 1024
/** For the metric of bytes matched: what a token of text is on average. */
const BYTES_PER_TOKEN = 4

export interface ApproxOptions {
  /** Floor of the block size in tokens; `MIN_BLOCK_TOKENS` unless a test wants small blocks. */
  readonly minBlockTokens?: number
}

interface Pending {
  readonly blockTokens: number
  readonly total: number
  /** Slot and match of each candidate that matches, one after the other. */
  readonly matches: readonly number[]
}

/**
 * Guesses how much of a prompt each endpoint has in its cache from the prompts that were sent to it, by this replica or a peer.
 * (llm-d: approx-prefix-cache-producer)
 */
export class ApproxPrefixCacheProducer implements Producer, PreRequest, EndpointEvents, PeerLoads {
  readonly typedName: TypedName
  readonly parameters: ApproxParameters
  readonly index = new BlockIndex({ chained: true })
  private readonly minBlockTokens: number
  private readonly key: DataKey<PrefixCacheMatchInfo>
  private readonly labels: Readonly<Record<string, string>>
  private readonly keys = new PromptKeys()
  private readonly infos = new MatchInfos()
  private readonly pending = new Map<number, Pending>()
  private counts = new Int32Array(0)
  private services: Services | undefined
  private writer: Writer<PrefixCacheMatchInfo> | undefined

  constructor(typedName: TypedName, parameters: ApproxParameters, options: ApproxOptions = {}) {
    this.typedName = typedName
    this.parameters = parameters
    this.minBlockTokens = options.minBlockTokens ?? MIN_BLOCK_TOKENS
    this.key = fromProducer(PREFIX_CACHE_MATCH_INFO, typedName.name)
    this.labels = { plugin_name: typedName.name, plugin_type: typedName.type }
  }

  consumes(): Consumption {
    return { required: [TOKENIZED_PROMPT] }
  }

  produces(): readonly DataKey<unknown>[] {
    return [this.key]
  }

  setup(services: Services): void {
    this.services = services
    this.writer = services.writer(this.key)
  }

  /** Tokens a block: the first candidate decides for all. */
  blockTokens(candidates: readonly Endpoint[]): number {
    return blockTokensOf(this.parameters, candidates[0]?.cacheBlockSize ?? 0, this.minBlockTokens)
  }

  wants(candidates: readonly Endpoint[]): readonly WantedKeys[] {
    const blockTokens = this.blockTokens(candidates)
    const maxBlocks = maxBlocksOf(this.parameters, blockTokens)
    return blockTokens < 1 || maxBlocks === 0 ? [] : [{ kind: APPROX_KEYS, blockTokens, maxBlocks }]
  }

  produce(request: Request, candidates: readonly Endpoint[]): void {
    const blockTokens = this.blockTokens(candidates)
    const { index, keys } = this
    if (this.counts.length < index.slots) this.counts = new Int32Array(2 * index.slots)
    this.counts.fill(0)
    let total = 0
    for (const prompt of request.shape.prompts) {
      const blocks = keys.read(prompt, blockTokens, maxBlocksOf(this.parameters, blockTokens))
      total += blocks
      if (blocks > 0 && index.size > 0) index.count(keys.words, blocks, this.counts)
    }
    this.remember(request.key, { blockTokens, total, matches: this.publish(candidates, total, blockTokens) })
  }

  preRequest(request: Request, result: SchedulingResult): void {
    const pending = this.pending.get(request.key)
    this.pending.delete(request.key)
    const primary = result.results.get(result.primary)?.endpoints[0]
    if (pending === undefined || primary === undefined) return
    const prefill = result.results.get(PREFILL_PROFILE)?.endpoints[0]
    for (const prompt of request.shape.prompts) {
      const blocks = this.keys.read(prompt, pending.blockTokens, maxBlocksOf(this.parameters, pending.blockTokens))
      this.hold(primary, blocks)
      if (prefill !== undefined && prefill !== primary) this.hold(prefill, blocks)
    }
    this.measure(matchOf(pending.matches, primary.slot), pending)
  }

  /**
   * What a peer sent somewhere is held there as what this replica sent: blocks of the size that is wanted now, by an
   * endpoint that has joined, in the life that the peer means.
   */
  peerLoad({ assigned }: PeerLoadReport): void {
    const endpoints = this.services?.endpoints() ?? []
    const blockTokens = this.blockTokens(endpoints)
    const maxBlocks = maxBlocksOf(this.parameters, blockTokens)
    const before = this.index.size
    for (const { endpoint: id, incarnation, blocks } of assigned) {
      const endpoint = blocks.length === 0 ? undefined : ofId(endpoints, id)
      if (endpoint === undefined || (incarnation !== '' && incarnation !== endpoint.incarnation)) continue
      for (const prompt of blocks) this.hold(endpoint, this.keys.read({ blocks: [prompt] }, blockTokens, maxBlocks))
    }
    if (this.index.size !== before) this.measureSize()
  }

  /** Its requests are over; what they left in the caches stays. */
  peerGone(_replica: string): void {}

  endpointAdded(_endpoint: Endpoint): void {}

  endpointRemoved(endpoint: Endpoint): void {
    if (this.index.shelf(endpoint.slot)?.id !== endpoint.id) return
    this.index.close(endpoint.slot)
    this.measureSize()
  }

  save(): Uint8Array {
    return saveIndex(this.index)
  }

  load(state: Uint8Array, endpoints: readonly Endpoint[]): void {
    loadIndex(this.index, state, new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.slot])))
  }

  dump(): unknown {
    const pods: { pod: string; blocks: number }[] = []
    for (let slot = 0; slot < this.index.slots; slot++) {
      const shelf = this.index.shelf(slot)
      if (shelf !== undefined) pods.push({ pod: shelf.id, blocks: shelf.size })
    }
    pods.sort((a, b) => b.blocks - a.blocks || byCodeUnit(a.pod, b.pod))
    return { pods: pods.slice(0, SHOWN_MAX), totalPods: pods.length, maxPods: SHOWN_MAX }
  }

  /** Writes each candidate's match; endpoints that match alike share one value. */
  private publish(candidates: readonly Endpoint[], total: number, blockTokens: number): readonly number[] {
    const { writer, counts } = this
    const matches: number[] = []
    if (writer === undefined) return matches
    let last = this.infos.of(0, total, blockTokens)
    for (const endpoint of candidates) {
      const { slot } = endpoint
      const match = slot < counts.length ? (counts[slot] as number) : 0
      if (match !== 0) matches.push(slot, match)
      if (match !== last.matchBlocks) last = this.infos.of(match, total, blockTokens)
      writer.put(endpoint, last)
    }
    return matches
  }

  private remember(key: number, pending: Pending): void {
    this.pending.set(key, pending)
    if (this.pending.size <= PENDING_MAX) return
    for (const oldest of this.pending.keys()) {
      this.pending.delete(oldest)
      return
    }
  }

  private hold(endpoint: Endpoint, blocks: number): void {
    if (blocks === 0) return
    const shelf = this.index.shelf(endpoint.slot)
    if (shelf?.id !== endpoint.id) {
      this.index.close(endpoint.slot)
      this.index.open(endpoint.slot, endpoint.id, capacityOf(this.parameters, endpoint.cacheNumBlocks))
    }
    this.index.add(endpoint.slot, this.keys.words, blocks)
  }

  private measure(match: number, { total, blockTokens }: Pending): void {
    const blockBytes = blockTokens * BYTES_PER_TOKEN
    for (const observation of matchMeasured(this.labels, match * blockBytes, total * blockBytes)) this.services?.observe(observation)
    this.measureSize()
  }

  private measureSize(): void {
    this.services?.observe(sizeMeasured(this.labels, this.index.size))
  }
}

/** The endpoint of an id among endpoints in order of id. */
const ofId = (endpoints: readonly Endpoint[], id: string): Endpoint | undefined => {
  let low = 0
  let high = endpoints.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (byCodeUnit((endpoints[middle] as Endpoint).id, id) < 0) low = middle + 1
    else high = middle
  }
  return endpoints[low]?.id === id ? endpoints[low] : undefined
}

const matchOf = (matches: readonly number[], slot: number): number => {
  for (let at = 0; at < matches.length; at += 2) if (matches[at] === slot) return matches[at + 1] ?? 0
  return 0
}

const typeOf = (type: string, stability: PluginType['stability']): PluginType => ({
  type,
  kinds: ['producer', 'pre-request'],
  stability,
  create: ({ name, parameters }) => new ApproxPrefixCacheProducer({ type, name }, approxParameters(parameters)),
})

export const approxPrefixCacheProducer: PluginType = typeOf(TYPE, 'beta')

/** The same across clusters. */
export const multiclusterApproxPrefixCacheProducer: PluginType = typeOf(MULTICLUSTER_TYPE, 'alpha')
