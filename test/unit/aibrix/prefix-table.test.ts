import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PrefixStore, PrefixTable, type SavedPrefixTable } from '../../../src/aibrix/index.ts'
import { RouterState } from '../../../src/plugins/profile-handler/aibrix-pd-profile-handler/router-state.ts'

const LIMITS = { blocks: 6, timeToLiveUs: 12, sweepIntervalUs: 3 }
const MODELS = ['m', 'n']
const PODS = ['p', 'q', 'r']

/** Hashes of a prompt; those of two prompts begin alike or not at all. Some share a half of their bits. */
const hashesOf = (prompt: number, blocks: number): readonly bigint[] => Array.from({ length: blocks }, (_, i) => (BigInt(prompt) << 60n) | (i % 2 === 0 ? BigInt(i + 1) : BigInt(i + 1) << 32n))

type Step =
  | { readonly kind: 'add'; readonly prompt: number; readonly blocks: number; readonly model: string; readonly pod: string }
  | { readonly kind: 'forget'; readonly pod: string }
  | { readonly kind: 'sweep' }

const steps = fc.array(fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('add' as const), prompt: fc.integer({ min: 1, max: 3 }), blocks: fc.integer({ min: 0, max: 8 }), model: fc.constantFrom(...MODELS), pod: fc.constantFrom(...PODS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), pod: fc.constantFrom(...PODS) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
), { maxLength: 30 })

/** The table as AIBrix describes it: a store from hash to model to pod to time. */
class Described {
  private readonly store = new PrefixStore<bigint, Map<string, Map<string, number>>>(LIMITS.blocks, LIMITS.timeToLiveUs)
  private sweptAt = 0

  take(step: Step, now: number): void {
    if (step.kind === 'sweep') {
      if (now - this.sweptAt < LIMITS.sweepIntervalUs) return
      this.sweptAt = now
      this.store.sweep(now)
    } else if (step.kind === 'forget') {
      for (const [, holders] of this.store.all()) for (const pods of holders.values()) pods.delete(step.pod)
    } else {
      for (const hash of hashesOf(step.prompt, step.blocks)) {
        const holders = this.store.get(hash) ?? new Map<string, Map<string, number>>()
        holders.set(step.model, (holders.get(step.model) ?? new Map<string, number>()).set(step.pod, now))
        this.store.put(hash, holders, now)
      }
    }
  }

  get size(): number {
    return this.store.size
  }

  match(hashes: readonly bigint[], model: string): Map<string, number> {
    const matched = new Map<string, number>()
    let left: readonly string[] = PODS
    for (const [i, hash] of hashes.entries()) {
      const holders = this.store.get(hash)?.get(model)
      left = left.filter((pod) => holders?.has(pod) === true)
      for (const pod of left) matched.set(pod, Math.floor(((i + 1) * 100) / hashes.length))
    }
    return matched
  }
}

const take = (table: PrefixTable, step: Step, now: number): void => {
  if (step.kind === 'sweep') table.sweepAt(now)
  else if (step.kind === 'forget') table.forgetPod(step.pod)
  else table.addPrefix(hashesOf(step.prompt, step.blocks), step.model, step.pod, now)
}

const matches = (table: Pick<PrefixTable, 'matchPrefix'>): unknown[] => [1, 2, 3].flatMap((prompt) => MODELS.map((model) => table.matchPrefix(hashesOf(prompt, 7), model, PODS)))

describe('the prefix table', () => {
  it('matches what a store of maps would, whatever is added, forgotten and swept, and is the same again from what it saved', () => {
    fc.assert(fc.property(steps, (list) => {
      const table = new PrefixTable(LIMITS)
      const described = new Described()
      list.forEach((step, now) => {
        take(table, step, now)
        described.take(step, now)
        expect(table.size).toBe(described.size)
      })
      expect(matches(table)).toEqual(matches({ matchPrefix: (hashes, model) => described.match(hashes, model) }))
      const again = new PrefixTable(LIMITS)
      again.load(table.save())
      expect(again.save()).toEqual(table.save())
      expect(matches(again)).toEqual(matches(table))
      const more: Step = { kind: 'add', prompt: 4, blocks: 4, model: 'm', pod: 'p' }
      take(table, more, 99)
      take(again, more, 99)
      expect(again.save()).toEqual(table.save())
    }))
  })

  it('takes more blocks than it began with room for, and forgets names that nothing bears', () => {
    const table = new PrefixTable({ blocks: 5000, timeToLiveUs: 1e9, sweepIntervalUs: 1 })
    const many = Array.from({ length: 4000 }, (_, i) => BigInt(i) * 0x9e3779b97f4a7c15n & 0xffffffffffffffffn)
    for (let i = 0; i < 40; i++) table.addPrefix(many, `model-${i}`, `pod-${i}`, i)
    expect(table.size).toBe(4000)
    expect(table.matchPrefix([...many, 1n], 'model-7', ['pod-7', 'pod-8'])).toEqual(new Map([['pod-7', 99]]))
    for (let i = 1; i < 40; i++) table.forgetPod(`pod-${i}`)
    expect(table.save()).toMatchObject({ models: ['model-0'], pods: ['pod-0'] })
    table.addPrefix(Array.from({ length: 5000 }, (_, i) => BigInt(i + 1) << 32n), 'other', 'last', 50)
    expect(table.save()).toMatchObject({ models: ['other'], pods: ['last'] })
  })

  it.each([
    ['cut', (saved: SavedPrefixTable): SavedPrefixTable => ({ ...saved, blocks: saved.blocks.subarray(0, -3) })],
    ['without a name', (saved: SavedPrefixTable): SavedPrefixTable => ({ ...saved, pods: [] })],
  ])('is not read from what is %s', (_case, damage) => {
    const table = new PrefixTable(LIMITS)
    table.addPrefix([1n, 2n], 'm', 'p', 1)
    expect(() => new PrefixTable(LIMITS).load(damage(table.save()))).toThrow(RangeError)
  })
})

describe('the saved state of the router', () => {
  const settings = { blocksMax: 10, timeToLiveMinutes: 1, sweepSeconds: 1 }
  const state = new RouterState(settings)
  state.pending.addPendingDecode(7, '1')
  state.phases.begin(7, 5)
  state.table.addPrefix([1n, 2n], 'm', 'p', 1)

  it('is the same again', () => {
    const again = new RouterState(settings)
    again.load(state.save())
    expect(again.save()).toEqual(state.save())
  })

  it.each([0, 3, 4, 60])('is refused when only %i bytes of it are there', (bytes) => expect(() => new RouterState(settings).load(state.save().subarray(0, bytes))).toThrow(/saved state of an aibrix-pd-profile-handler cannot be read/))
  it('is refused when its end is missing', () => expect(() => new RouterState(settings).load(state.save().subarray(0, -1))).toThrow(/saved state of an aibrix-pd-profile-handler cannot be read/))
})
