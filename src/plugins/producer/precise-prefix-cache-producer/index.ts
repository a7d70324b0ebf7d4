import { type DataKey, fromProducer, PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo, TOKENIZED_PROMPT, type Writer } from '../../../core/attribute.ts'
import type { Consumption, EndpointEvents, KvEvents, PeerLoadReport, PeerLoads, PluginType, PreRequest, Producer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { millis } from '../../../core/instant.ts'
import { byCodeUnit } from '../../../core/order.ts'
import type { Request, SchedulingResult } from '../../../core/request.ts'
import type { WantedKeys } from '../../../core/shape.ts'
import { IndexMeasure } from './index-measure.ts'
import type { Removals } from './index-measure.ts'
import { KvIndex } from './kv-index.ts'
import { Lookup } from './lookup.ts'
import { type PreciseParameters, preciseParameters } from './parameters.ts'
import { Speculation } from './speculation.ts'
import { loadState, saveState } from './state.ts'
import { SPECULATIVE, Tiers } from './tiers.ts'

const TYPE = 'precise-prefix-cache-producer'

/** The profile whose target computes the prompt's blocks too. Its name is not configurable. (llm-d) */
const PREFILL_PROFILE = 'prefill'
const KEY_BYTES = 8
/** Endpoints shown in a dump. */
const SHOWN_MAX = 100

/**
 * Knows how much of a prompt each endpoint has in its cache from what the engines tell of it.
 * (llm-d: precise-prefix-cache-producer)
 */
export class PrecisePrefixCacheProducer implements Producer, PreRequest, EndpointEvents, KvEvents, PeerLoads {
  readonly typedName: TypedName
  readonly parameters: PreciseParameters
  readonly index: KvIndex
  private readonly key: DataKey<PrefixCacheMatchInfo>
  private readonly tiers: Tiers
  private readonly lookup: Lookup
  private readonly speculation = new Speculation()
  private readonly speculative: number
  private readonly measure: IndexMeasure
  private services: Services | undefined
  private writer: Writer<PrefixCacheMatchInfo> | undefined

  constructor(name: string, parameters: PreciseParameters, type: string = TYPE) {
    this.typedName = { type, name }
    this.parameters = parameters
    this.index = new KvIndex(parameters.blocksMax)
    this.key = fromProducer(PREFIX_CACHE_MATCH_INFO, name)
    this.tiers = new Tiers(parameters.weights)
    this.speculative = this.tiers.numberOf(SPECULATIVE)
    this.lookup = new Lookup(this.index, this.tiers, parameters.hash, parameters.blockTokens)
    this.measure = new IndexMeasure(parameters.measures, (observation) => this.services?.observe(observation))
  }

  /** Has lookups timed, by seconds that only rise; no decision depends on them. */
  timeWith(stopwatch: () => number): void {
    this.measure.stopwatch = stopwatch
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

  wants(): readonly WantedKeys[] {
    const { hash: kind, blockTokens, seed } = this.parameters
    return [{ kind, blockTokens, maxBlocks: undefined, seed }]
  }

  produce(request: Request, candidates: readonly Endpoint[]): void {
    this.endSpeculation()
    const since = this.measure.start()
    const infos = this.lookup.matches(request.shape, candidates)
    this.measure.lookedUp(infos, since)
    this.publish(candidates, infos)
  }

  /** The endpoints that the request goes to will hold its blocks before their engines have told so. */
  preRequest(request: Request, result: SchedulingResult): void {
    if (!this.parameters.speculates) return
    this.endSpeculation()
    const primary = result.results.get(result.primary)?.endpoints[0]
    const prefill = result.results.get(PREFILL_PROFILE)?.endpoints[0]
    for (const prompt of request.shape.prompts) {
      const blocks = this.lookup.read(prompt)
      if (blocks === 0) continue
      const words = this.lookup.keys.words.slice(0, 2 * blocks)
      if (primary !== undefined) this.speculate(primary, words)
      if (prefill !== undefined && prefill !== primary) this.speculate(prefill, words)
    }
  }

  /** What a peer sent somewhere will be held there before the engine has told so, as what this replica sent. */
  peerLoad({ assigned }: PeerLoadReport): void {
    if (!this.parameters.speculates) return
    this.endSpeculation()
    const endpoints = this.services?.endpoints() ?? []
    for (const { endpoint: id, incarnation, blocks } of assigned) {
      const endpoint = blocks.length === 0 ? undefined : endpoints.find((each) => each.id === id)
      if (endpoint === undefined || (incarnation !== '' && incarnation !== endpoint.incarnation)) continue
      for (const prompt of blocks) {
        const count = this.lookup.read({ blocks: [prompt] })
        if (count > 0) this.speculate(endpoint, this.lookup.keys.words.slice(0, 2 * count))
      }
    }
  }

  /** What it sent goes on to be computed; the time of each guess ends by itself. */
  peerGone(_replica: string): void {}

  kvBlocksStored(endpoint: Endpoint, keys: Uint8Array, tier: string, blockTokens: number): void {
    // Keys of another block size name other blocks: they would match nothing and only take room.
    if (blockTokens !== this.parameters.blockTokens) return
    this.shelve(endpoint, wordsOf(keys), this.tiers.numberOf(tier))
    this.measure.changed(Math.floor(keys.length / KEY_BYTES), 0, this.index.evictions)
  }

  kvBlocksRemoved(endpoint: Endpoint, keys: Uint8Array, tier: string): void {
    const number = this.tiers.numberOf(tier)
    if (!this.isOf(endpoint) || number < 0) return
    this.measure.removed(this.unshelve(endpoint.slot, wordsOf(keys), number))
    this.measure.changed(0, Math.floor(keys.length / KEY_BYTES), this.index.evictions)
  }

  kvBlocksCleared(endpoint: Endpoint): void {
    if (!this.isOf(endpoint)) return
    this.index.close(endpoint.slot)
    this.speculation.forget(endpoint.slot)
  }

  endpointAdded(_endpoint: Endpoint): void {}

  endpointRemoved(endpoint: Endpoint): void {
    this.kvBlocksCleared(endpoint)
  }

  save(): Uint8Array {
    return saveState(this.index, this.tiers, this.speculation)
  }

  load(state: Uint8Array, endpoints: readonly Endpoint[]): void {
    loadState(state, endpoints, this.index, this.tiers, this.speculation)
  }

  dump(): unknown {
    const pods: { pod: string; blocks: number }[] = []
    for (let slot = 0; slot < this.index.slots; slot++) {
      const shelf = this.index.shelf(slot)
      if (shelf !== undefined) pods.push({ pod: shelf.id, blocks: shelf.size })
    }
    pods.sort((a, b) => b.blocks - a.blocks || byCodeUnit(a.pod, b.pod))
    return { pods: pods.slice(0, SHOWN_MAX), totalPods: pods.length, maxPods: SHOWN_MAX, blocks: this.index.size, maxBlocks: this.index.max, speculativePrompts: this.speculation.pending.length }
  }

  /** Writes what each candidate has of the prompt. */
  protected publish(candidates: readonly Endpoint[], infos: readonly PrefixCacheMatchInfo[]): void {
    for (const [at, info] of infos.entries()) this.writer?.put(candidates[at] as Endpoint, info)
  }

  private speculate(endpoint: Endpoint, words: Int32Array): void {
    this.shelve(endpoint, words, this.speculative)
    this.speculation.add({ slot: endpoint.slot, until: (this.services?.now() ?? 0) + millis(this.parameters.speculativeMs), words })
  }

  /** Nothing wakes a plugin: what is over ends when somebody looks. */
  private endSpeculation(): void {
    const now = this.services?.now() ?? 0
    for (let batch = this.speculation.takeEnded(now); batch !== undefined; batch = this.speculation.takeEnded(now)) {
      this.unshelve(batch.slot, batch.words, this.speculative)
    }
  }

  private shelve(endpoint: Endpoint, words: Int32Array, tier: number): void {
    if (tier < 0) return
    if (!this.isOf(endpoint)) this.index.open(endpoint.slot, endpoint.id)
    for (let at = 0; at + 1 < words.length; at += 2) this.index.store(endpoint.slot, words[at] as number, words[at + 1] as number, tier)
  }

  private unshelve(slot: number, words: Int32Array, tier: number): Removals {
    const removals: Removals = { forwarded: 0, suppressed: 0 }
    for (let at = 0; at + 1 < words.length; at += 2) {
      const left = this.index.remove(slot, words[at] as number, words[at + 1] as number, tier)
      if (left === 0) removals.forwarded += 1
      else if (left > 0) removals.suppressed += 1
    }
    return removals
  }

  private isOf(endpoint: Endpoint): boolean {
    return this.index.shelf(endpoint.slot)?.id === endpoint.id
  }
}

/** Keys as pairs of words; a rest of less than a key is none. */
const wordsOf = (keys: Uint8Array): Int32Array => new Int32Array(keys.slice(0, keys.length - (keys.length % KEY_BYTES)).buffer)

export const precisePrefixCacheProducer: PluginType = {
  type: TYPE,
  kinds: ['producer', 'pre-request'],
  stability: 'beta',
  create: ({ name, parameters }) => new PrecisePrefixCacheProducer(name, preciseParameters(parameters)),
}
