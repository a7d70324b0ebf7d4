import { blockHashBytes, hashesOf, hashSeedOf, PrefixStore, PrefixTable } from '../../src/aibrix/index.ts'
import { expectAsFile } from './aibrix-cases.ts'
import { forEachCase, type Case } from './runner.ts'

interface HashConfig {
  readonly blockSize: number
  readonly seed: string
}

const hashed = (bytes: readonly number[], { blockSize, seed }: HashConfig): readonly bigint[] => hashesOf(blockHashBytes(Uint8Array.from(bytes), blockSize, BigInt(seed)))

interface Step {
  readonly do: 'add' | 'match'
  readonly bytes: readonly number[]
  readonly model: string
  readonly pod?: string
  readonly firstBlocks?: number
  readonly readyPods?: readonly string[]
}

forEachCase('aibrix-prefix-hash.json', {
  hash: ({ config, input, expected }: Case<HashConfig, { bytes: readonly number[] }>): void => expectAsFile(hashed(input.bytes, config).map(String), expected),
  sequence: ({ config, input, expected }: Case<HashConfig, { steps: readonly Step[] }>): void => {
    const table = new PrefixTable({ blocks: 1000, timeToLiveUs: 1e9, sweepIntervalUs: 1e6 })
    const results = input.steps.map((step) => {
      const hashes = hashed(step.bytes, config)
      if (step.do === 'match') return { hashCount: hashes.length, matchedPercentByPod: table.matchPrefix(hashes, step.model, step.readyPods ?? []) }
      table.addPrefix(hashes.slice(0, step.firstBlocks ?? hashes.length), step.model, step.pod ?? '', 0)
      return null
    })
    expectAsFile(results, expected)
  },
  seedFromEnv: ({ config, expected }: Case<Readonly<Record<string, string | null>>>): void => {
    const environment = Object.fromEntries(Object.entries(config).map(([name, value]) => [name, value ?? undefined]))
    expectAsFile({ seed: hashSeedOf(environment)?.toString() ?? 'random' }, expected)
  },
})

interface StoreStep {
  readonly do: 'put' | 'get' | 'advanceMs' | 'sweep'
  readonly key?: string
  readonly value?: string
  readonly ms?: number
}

forEachCase('aibrix-prefix-store.json', {
  lru: ({ config, input, expected }: Case<{ capacity: number; ttlMs: number }, { steps: readonly StoreStep[] }>): void => {
    const store = new PrefixStore<string, string>(config.capacity, config.ttlMs)
    let now = 0
    const results = input.steps.map((step) => {
      if (step.do === 'put') return { evicted: store.put(step.key ?? '', step.value ?? '', now) }
      if (step.do === 'get') return { value: store.get(step.key ?? '') ?? null }
      if (step.do === 'sweep') {
        store.sweep(now)
        return { size: store.size }
      }
      now += step.ms ?? 0
      return null
    })
    expectAsFile(results, expected)
  },
})
