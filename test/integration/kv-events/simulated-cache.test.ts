import { Publisher } from 'zeromq'
import { afterEach, describe, expect, it } from 'vitest'
import { KvListener, KvSubscription } from '../../../src/adapters/kv-events/index.ts'
import type { BlockChange, BlockNaming, KvFault } from '../../../src/adapters/kv-events/index.ts'
import { sequenceFrame } from '../../../src/adapters/kv-events/message.ts'
import { RenderClient } from '../../../src/adapters/render/index.ts'
import { fromProducer, PREFIX_CACHE_MATCH_INFO } from '../../../src/core/attribute.ts'
import { shape } from '../../../src/core/shape.ts'
import { type PrecisePrefixCacheProducer, precisePrefixCacheProducer } from '../../../src/plugins/producer/precise-prefix-cache-producer/index.ts'
import { startEndpoint } from '../../../src/simulation/index.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'
import { batch, stored } from '../../unit/adapters/kv-events/packing.ts'
import { Desk, endpoint, make, request } from '../../unit/plugins/given.ts'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const NAMING: BlockNaming = { hash: 'cbor-fnv', blockTokens: 16, seed: '', mask: undefined }
const never = new AbortController().signal

/** Resolves when the condition holds; whatever may change it calls `look`. */
class Watch {
  private waiting: { readonly holds: () => boolean; readonly resolve: () => void }[] = []

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push({ holds, resolve })
      this.look()
    })
  }

  readonly look = (): void => {
    this.waiting = this.waiting.filter(({ holds, resolve }) => {
      if (!holds()) return true
      resolve()
      return false
    })
  }
}

const simulated = async (blockCount = 40): Promise<SimulatedEndpoint> => {
  const one = await startEndpoint({ speed: 1000, timing: { blockCount, blockTokens: 16 }, kvEvents: { port: 0, replayPort: 0 } })
  closers.push(() => one.close())
  return one
}

/** A producer that follows a simulated endpoint over ZeroMQ. */
const following = (one: SimulatedEndpoint, replays: boolean) => {
  const desk = new Desk()
  const producer = make<PrecisePrefixCacheProducer>(precisePrefixCacheProducer, {}, desk)
  const e = endpoint('e', { slot: 0 })
  const watch = new Watch()
  const faults: string[] = []
  const subscription = new KvSubscription({
    address: `tcp://127.0.0.1:${one.kvEvents?.port ?? 0}`,
    replayAddress: replays ? `tcp://127.0.0.1:${one.kvEvents?.replayPort ?? 0}` : undefined,
    topicFilter: 'kv@',
    naming: NAMING,
    model: '',
    change: (change) => {
      if (change.kind === 'stored') producer.kvBlocksStored(e, change.keys, change.tier, 16)
      else if (change.kind === 'removed') producer.kvBlocksRemoved(e, change.keys, change.tier)
      else producer.kvBlocksCleared(e)
      watch.look()
    },
    fault: (fault: KvFault, count) => faults.push(`${fault} ${count}`),
  })
  closers.push(() => subscription.close())
  const matchOf = async (client: RenderClient, prompt: string): Promise<number> => {
    const prompts = await client.render({ kind: 'completions', body: Buffer.from(JSON.stringify({ model: 'sim-model', prompt })), hasMedia: false }, never)
    producer.produce(request({ shape: shape({ prompts, cacheSalt: '' }, 'sim-model', producer.wants()) }), [e])
    return desk.reader(fromProducer(PREFIX_CACHE_MATCH_INFO, producer.typedName.name)).get(e)?.matchBlocks ?? NaN
  }
  return { producer, watch, faults, matchOf, e }
}

const rendererOf = (one: SimulatedEndpoint): RenderClient => {
  const client = new RenderClient({ url: one.url, modelName: 'sim-model', timeoutMs: 5000, mediaTimeoutMs: 5000 })
  closers.push(() => client.close())
  return client
}

/** Sends a prompt and gives the number of its tokens that the engine found in its cache. */
const complete = async (one: SimulatedEndpoint, prompt: string): Promise<{ tokens: number; cached: number }> => {
  const response = await fetch(`${one.url}/v1/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', prompt, max_tokens: 1 }) })
  const { usage } = (await response.json()) as { usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } } }
  return { tokens: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens }
}

/** Prompts of 64 to 640 tokens that share prefixes of a few families; the same ones each time. */
const prompts = Array.from({ length: 60 }, (_, at) => {
  const family = String.fromCharCode(97 + ((at * 7) % 5))
  return family.repeat(64 * (1 + ((at * 3) % 4))) + String((at * 11) % 13).repeat(64 * ((at * 5) % 6 + 1))
})

describe('KV events of a simulated endpoint', () => {
  it('given a workload that overfills its cache, when each prompt is looked up before it is sent, then the match is what the engine then finds', async () => {
    const one = await simulated()
    const { producer, watch, faults, matchOf } = following(one, true)
    const renderer = rendererOf(one)
    let hits = 0
    for (const prompt of prompts) {
      await watch.until(() => producer.index.size === one.state().kvBlocksCached)
      const match = await matchOf(renderer, prompt)
      const { tokens, cached } = await complete(one, prompt)
      // The engine computes one token at least, so of a prompt that it has whole the last block does not count.
      expect(cached).toBe(16 * Math.min(match, Math.floor((tokens - 1) / 16)))
      hits += cached
    }
    expect(hits).toBe(one.state().cacheHits)
    expect(hits).toBeGreaterThan(1000)
    expect(faults).toEqual([])
  })

  it('given one that comes late, when it follows, then replay tells it everything that is cached', async () => {
    const one = await simulated()
    for (const prompt of prompts.slice(0, 20)) await complete(one, prompt)
    const { producer, watch, matchOf, faults } = following(one, true)
    await watch.until(() => producer.index.size === one.state().kvBlocksCached)
    const last = prompts[19] ?? ''
    const match = await matchOf(rendererOf(one), last)
    const { tokens, cached } = await complete(one, last)
    expect(cached).toBe(16 * Math.min(match, Math.floor((tokens - 1) / 16)))
    expect(faults).toEqual([])
  })

  it('given a lost engine, when its connection is gone, then nothing is taken to be held', async () => {
    const one = await simulated()
    const { producer, watch } = following(one, true)
    await complete(one, prompts[0] ?? '')
    await watch.until(() => producer.index.size > 0 && producer.index.size === one.state().kvBlocksCached)
    await one.close()
    await watch.until(() => producer.index.size === 0)
  })
})

describe('KvListener', () => {
  it('given engines that connect, when they publish, then the topic says whose events they are, and what cannot be placed is counted', async () => {
    const watch = new Watch()
    const told: (readonly [string, BlockChange])[] = []
    const faults: string[] = []
    const listener = await KvListener.open({
      address: 'tcp://127.0.0.1:*', topicFilter: 'kv@', naming: { ...NAMING, blockTokens: 2 },
      endpointOf: (pod) => (pod.startsWith('10.0.0.1:') ? `default/${pod}` : undefined),
      change: (endpointId, change) => { told.push([endpointId, change]); watch.look() },
      fault: (fault, count) => { faults.push(`${fault} ${count}`); watch.look() },
    })
    closers.push(() => listener.close())
    const publisher = new Publisher({ linger: 0 })
    closers.push(() => publisher.close())
    const joined = new Promise<void>((resolve) => publisher.events.on('handshake', () => resolve()))
    publisher.connect(listener.address)
    await joined
    const send = (topic: string, sequence: number): Promise<void> => publisher.send([topic, sequenceFrame(BigInt(sequence)), batch(stored([1], [1, 2]))])
    // Until the subscription has arrived nothing does: what comes first is sent again.
    while (told.length === 0) {
      await send('kv@10.0.0.1:8000@Qwen/Qwen2.5-1.5B-Instruct', 0)
      await new Promise(setImmediate)
    }
    await send('kv@10.0.0.1:8001@m', 0)
    await send('kv@elsewhere@m', 0)
    await publisher.send(['kv@10.0.0.1:8001@m', Buffer.alloc(7), batch()])
    await watch.until(() => faults.includes('frames 1'))
    expect(new Set(told.map(([id]) => id))).toEqual(new Set(['default/10.0.0.1:8000', 'default/10.0.0.1:8001']))
    expect(faults.filter((fault) => !fault.startsWith('restart'))).toEqual(['unknown-endpoint 1', 'frames 1'])
  })
})
