/**
 * What the prefix index costs at full size: 715,000 blocks on 128 endpoints (each prompt continues one of 64 system
 * prompts of 8 blocks with 120 of its own), then lookups of 128-block prompts that one endpoint holds, additions that
 * push others out, memory, and saving.
 * `node test/bench/prompts/prefix-index.ts`
 */

import { setImmediate } from 'node:timers/promises'
import { Column, type PrefixCacheMatchInfo } from '../../../src/core/attribute.ts'
import type { Services } from '../../../src/core/contract.ts'
import { Endpoint } from '../../../src/core/endpoint.ts'
import type { Request } from '../../../src/core/request.ts'
import { ApproxPrefixCacheProducer } from '../../../src/plugins/producer/approx-prefix-cache-producer/index.ts'
import { BlockIndex } from '../../../src/plugins/producer/approx-prefix-cache-producer/block-index.ts'
import { approxParameters } from '../../../src/plugins/producer/approx-prefix-cache-producer/parameters.ts'
import { loadIndex, saveIndex } from '../../../src/plugins/producer/approx-prefix-cache-producer/state.ts'
import { microseconds, report, retained } from '../harness.ts'

const ENDPOINTS = 128
const BLOCKS = 715_000
const PROMPT_BLOCKS = 128
const SHARED_BLOCKS = 8
const SYSTEM_PROMPTS = 64
const CAPACITY = Math.ceil(BLOCKS / ENDPOINTS)

/** Keys as a hash would give them, the same in each run. */
const key = (n: number): number => {
  let h = Math.imul(n ^ (n >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

const prompt = (n: number): Int32Array =>
  Int32Array.from({ length: 2 * PROMPT_BLOCKS }, (_, i) => {
    const block = i >> 1
    const id = block < SHARED_BLOCKS ? -1 - (n % SYSTEM_PROMPTS) * SHARED_BLOCKS - block : n * PROMPT_BLOCKS + block
    return key(2 * id + (i & 1))
  })

const PROMPTS = Math.floor(BLOCKS / (PROMPT_BLOCKS - SHARED_BLOCKS))
const prompts = Array.from({ length: PROMPTS + 2000 }, (_, n) => prompt(n))
const slots = new Map(Array.from({ length: ENDPOINTS }, (_, slot) => [`default/pod-${slot}`, slot] as const))

const filled = (): BlockIndex => {
  const index = new BlockIndex({ chained: true })
  for (const [id, slot] of slots) index.open(slot, id, CAPACITY)
  for (let n = 0; n < PROMPTS; n++) index.add(n % ENDPOINTS, prompts[n] as Int32Array, PROMPT_BLOCKS)
  return index
}

const { bytes, kept: index } = retained(filled)
// What growing left behind is collected late, beside the program.
await setImmediate()
const late = retained(() => undefined).bytes
const counts = new Int32Array(ENDPOINTS)
const lookup = (n: number): void => {
  counts.fill(0)
  index.count(prompts[n] as Int32Array, PROMPT_BLOCKS, counts)
}
// Prompts far apart, so that none is still in the processor's cache from the one before.
const scattered = (i: number): number => (i * 7919) % PROMPTS

report(`prefix index: ${index.size} blocks held, ${index.distinct} distinct`, [
  { name: 'memory of a block', value: (bytes + late) / index.size, unit: 'B', goal: 100 },
  { name: 'lookup of 128 blocks, scattered', value: microseconds(50_000, (i) => lookup(scattered(i))), unit: 'µs', goal: 3 },
  { name: 'lookup of 128 blocks, the same again', value: microseconds(50_000, () => lookup(77)), unit: 'µs', goal: 3 },
  { name: 'adding a block that is there', value: (1000 * microseconds(2000, (i) => index.add(scattered(i) % ENDPOINTS, prompts[scattered(i)] as Int32Array, PROMPT_BLOCKS))) / PROMPT_BLOCKS, unit: 'ns' },
  { name: 'adding a block that pushes one out', value: (1000 * microseconds(2000, (i) => index.add((i * 31) % ENDPOINTS, prompts[PROMPTS + ((i * 13) % 2000)] as Int32Array, PROMPT_BLOCKS))) / PROMPT_BLOCKS, unit: 'ns', goal: 60 },
])

const saved = saveIndex(index)
report(`saving: ${(saved.length / 1e6).toFixed(1)} MB`, [
  { name: 'save', value: microseconds(1, () => saveIndex(index)) / 1000, unit: 'ms' },
  { name: 'load', value: microseconds(1, () => loadIndex(new BlockIndex({ chained: true }), saved, slots)) / 1000, unit: 'ms' },
])

const matches = new Column<PrefixCacheMatchInfo>()
const producer = new ApproxPrefixCacheProducer({ type: 'approx-prefix-cache-producer', name: 'approx' }, approxParameters({}))
producer.setup({ writer: () => matches, observe: () => undefined } as unknown as Services)
const endpoints = [...slots].map(
  ([id, slot]) => new Endpoint({ id, address: '10.0.0.1', port: 8000, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '' }, slot, slot + 1),
)
const requests = prompts.slice(0, 2000).map(
  (words, n) => ({ key: n, shape: { prompts: [{ tokens: 8192, media: [], blocks: [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(words.buffer) }] }] } }) as unknown as Request,
)
const serve = (n: number, target: number): void => {
  const request = requests[n] as Request
  producer.produce(request, endpoints)
  producer.preRequest(request, { primary: 'decode', results: new Map([['decode', { endpoints: [endpoints[target] as Endpoint] }]]) })
}
for (let n = 0; n < requests.length; n++) serve(n, n % ENDPOINTS)
report('producer: 128 endpoints, 128 blocks', [
  { name: 'produce', value: microseconds(20_000, (i) => producer.produce(requests[i % 2000] as Request, endpoints)), unit: 'µs', goal: 5 },
  { name: 'produce and preRequest', value: microseconds(20_000, (i) => serve(i % 2000, (i % 2000) % ENDPOINTS)), unit: 'µs', goal: 10 },
])
