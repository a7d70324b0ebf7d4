/**
 * One decision: queue, KV and prefix scorers, picker, receipt and its digest; the prefix match is there already.
 * `node test/bench/engine/decision.ts`
 */
import { Column } from '../../../src/core/attribute.ts'
import type { Filter, Picker, Plugin, Scorer, Services } from '../../../src/core/contract.ts'
import type { Endpoint } from '../../../src/core/endpoint.ts'
import { LiveRequest } from '../../../src/engine/live-request.ts'
import { Chance } from '../../../src/scheduling/chance.ts'
import { Digest } from '../../../src/scheduling/digest.ts'
import type { Profile } from '../../../src/scheduling/profile.ts'
import { ReceiptBook } from '../../../src/scheduling/receipt-book.ts'
import { digestRun, profileDecision } from '../../../src/scheduling/receipt.ts'
import { runProfile } from '../../../src/scheduling/run-profile.ts'
import { SlabRing } from '../../../src/scheduling/slab.ts'
import { emptyDecision } from '../../../src/wire/decision.ts'
import { emptyRequestReceived } from '../../../src/wire/request.ts'
import { types } from '../../story/world.ts'
import { microseconds, report } from '../harness.ts'
import type { Figure } from '../harness.ts'
import { endpoints } from './fleets.ts'

const prefix = new Column<{ matchBlocks: number; totalBlocks: number; blockSizeTokens: number; cachedBlockCount: number }>()

const make = (type: string): Plugin => {
  const plugin = types.get(type)?.create({ name: type, parameters: undefined, plugin: () => undefined, warn: () => undefined })
  if (plugin === undefined) throw new Error(type)
  plugin.setup?.({ reader: () => prefix, writer: () => prefix } as unknown as Services)
  return plugin
}

const profile = (): Profile => ({
  name: 'default',
  filters: [] as Filter[],
  scorers: [
    { scorer: make('queue-scorer') as Scorer, weight: 2 },
    { scorer: make('kv-cache-utilization-scorer') as Scorer, weight: 2 },
    { scorer: make('prefix-cache-scorer') as Scorer, weight: 3 },
  ],
  picker: make('max-score-picker') as Picker,
})

const decide = (candidates: readonly Endpoint[]): ((i: number) => void) => {
  const chance = new Chance()
  chance.seed(7n)
  const context = { slabs: new SlabRing(16 * 1024 * 1024), chance, now: () => 1_000_000 }
  const receipts = new ReceiptBook(16 * 1024 * 1024)
  const digest = new Digest()
  const run = profile()
  const request = new LiveRequest(1, 1, emptyRequestReceived(), 0)
  const none = { matchBlocks: 0, totalBlocks: 128, blockSizeTokens: 64, cachedBlockCount: 0 }
  const some = { ...none, matchBlocks: 60, cachedBlockCount: 60 }
  candidates.forEach((endpoint, i) => prefix.put(endpoint, i % 17 === 0 ? some : none))
  return (i) => {
    chance.begin(i, 1)
    const done = runProfile(run, 'decode', request, candidates, context)
    digestRun(digest.reset(), done)
    const decision = { ...emptyDecision(), request: i, profiles: [profileDecision(done)], receiptDigest: digest.value() }
    receipts.keep({ position: i, atUs: i, request: i, requestId: 'r', attempt: 1, runs: [done], deciders: [], excluded: [], pairs: [], notes: [], decision })
  }
}

/** Figures of this bench. */
export const figures = (): Figure[] => {
  const at = (count: number): number => microseconds(Math.ceil(2_000_000 / count), decide(endpoints(count)))
  const [t64, t128, t256, t512, t1024, t2048] = [64, 128, 256, 512, 1024, 2048].map(at) as [number, number, number, number, number, number]
  const growth = Math.max(t128 / t64, t256 / t128, t512 / t256, t1024 / t512, t2048 / t1024)
  return [
    { name: 'at 128 endpoints', value: t128, unit: 'µs', goal: 8 },
    { name: 'at 1,024 endpoints', value: t1024, unit: 'µs', goal: 45 },
    { name: 'largest t(2n) / t(n), 64 to 2,048', value: growth, unit: 'times', goal: 2.2 },
  ]
}

if (import.meta.main) report('One decision, receipt included', figures())
