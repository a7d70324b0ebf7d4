/**
 * Three ways to hold what scorers read, scored alike: objects with a map of attributes, one class with plain fields, and
 * typed arrays by slot. The engine has the second: it is what plugins can read by name, at a small multiple of the third.
 * `node test/bench/engine/layout.ts`
 */
import { deepStrictEqual } from 'node:assert/strict'
import type { Endpoint } from '../../../src/core/endpoint.ts'
import { microseconds, report } from '../harness.ts'
import type { Figure } from '../harness.ts'
import { endpoints } from './fleets.ts'

const WEIGHTS = [2, 2, 1] as const

/** One scorer: a loop of its own over the fleet, as a plugin's is. */
type Scorer = (out: Float64Array) => void

const mapped = (fleet: readonly Endpoint[]): readonly Scorer[] => {
  const list = fleet.map((e) => ({ id: e.id, attributes: new Map<string, number>([['waiting', e.waitingQueueSize], ['kv', e.kvCacheUsage], ['running', e.runningRequestsSize]]) }))
  return [
    (out) => { for (let i = 0; i < list.length; i += 1) out[i] = 1 / (1 + (list[i]?.attributes.get('waiting') ?? 0)) },
    (out) => { for (let i = 0; i < list.length; i += 1) out[i] = 1 - (list[i]?.attributes.get('kv') ?? 0) },
    (out) => { for (let i = 0; i < list.length; i += 1) out[i] = 1 / (1 + (list[i]?.attributes.get('running') ?? 0)) },
  ]
}

const fielded = (list: readonly Endpoint[]): readonly Scorer[] => [
  (out) => { for (let i = 0; i < list.length; i += 1) out[i] = 1 / (1 + (list[i] as Endpoint).waitingQueueSize) },
  (out) => { for (let i = 0; i < list.length; i += 1) out[i] = 1 - (list[i] as Endpoint).kvCacheUsage },
  (out) => { for (let i = 0; i < list.length; i += 1) out[i] = 1 / (1 + (list[i] as Endpoint).runningRequestsSize) },
]

const columned = (fleet: readonly Endpoint[]): readonly Scorer[] => {
  const column = (read: (e: Endpoint) => number): Float64Array => Float64Array.from(fleet, read)
  const waiting = column((e) => e.waitingQueueSize)
  const kv = column((e) => e.kvCacheUsage)
  const running = column((e) => e.runningRequestsSize)
  // Candidates are some of the fleet: a column is read by slot.
  const slots = Int32Array.from(fleet, ({ slot }) => slot)
  return [
    (out) => { for (let i = 0; i < slots.length; i += 1) out[i] = 1 / (1 + (waiting[slots[i] as number] as number)) },
    (out) => { for (let i = 0; i < slots.length; i += 1) out[i] = 1 - (kv[slots[i] as number] as number) },
    (out) => { for (let i = 0; i < slots.length; i += 1) out[i] = 1 / (1 + (running[slots[i] as number] as number)) },
  ]
}

const LAYOUTS = { 'objects with maps': mapped, 'a class with fields': fielded, 'typed columns': columned } as const

const total = (scorers: readonly Scorer[], out: Float64Array, totals: Float64Array): void => {
  totals.fill(0)
  for (let which = 0; which < scorers.length; which += 1) {
    scorers[which]?.(out)
    const weight = WEIGHTS[which] as number
    for (let i = 0; i < totals.length; i += 1) totals[i] = (totals[i] as number) + (out[i] as number) * weight
  }
}

/** Figures of this bench. */
export const figures = (): Figure[] => [128, 1024].flatMap((count) => {
  const fleet = endpoints(count)
  const results = Object.entries(LAYOUTS).map(([name, make]) => {
    const scorers = make(fleet)
    const totals = new Float64Array(count)
    const out = new Float64Array(count)
    return { name: `${name}, ${count.toLocaleString('en')} endpoints`, value: microseconds(Math.ceil(300_000 / count), () => total(scorers, out, totals)), unit: 'µs', totals }
  })
  for (const { totals } of results) deepStrictEqual(totals, results[0]?.totals)
  return results.map(({ name, value, unit }) => ({ name, value, unit }))
})

if (import.meta.main) report('Three scorers over the fleet, by data layout', figures())
