import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MetricsReport } from '../../../../src/actors/telemetry/index.ts'
import { TelemetrySlots } from '../../../../src/actors/telemetry/index.ts'
import type { TelemetryTick } from '../../../../src/wire/input.ts'
import { decodeTelemetryTick, encodeTelemetryTick, Reader, Writer } from '../../../../src/wire/index.ts'

/** Slots of a fleet whose lives the test sets; every slot has life 1 until it is told otherwise. */
const given = () => {
  const lives = new Map<number, number>()
  const slots = new TelemetrySlots((slot) => lives.get(slot) ?? 1)
  return { lives, slots }
}

const columnOf = (tick: TelemetryTick | undefined, metric: string): readonly (readonly [slot: number, value: number])[] => {
  const column = tick?.columns.find((each) => each.metric === metric)
  const values = column === undefined ? [] : column.whole.length > 0 ? column.whole : column.real
  let slot = 0
  return values.map((value, index) => [(slot += column?.slotDeltas[index] as number), value])
}

const heardOf = (tick: TelemetryTick | undefined): number[] => {
  const heard = tick?.heard ?? new Uint8Array(0)
  return Array.from({ length: heard.length * 8 }, (_, slot) => slot).filter((slot) => ((heard[slot >> 3] as number) >> (slot & 7)) & 1)
}

describe('what a tick carries', () => {
  it('gives nothing when nothing arrived', () => {
    const { slots } = given()
    expect(slots.tick()).toBeUndefined()
  })

  it('gives the values of a first report, zeros included, and then only what changed', () => {
    const { slots } = given()
    slots.report(0, 1, { waitingQueueSize: 0, kvCacheUsage: 0.25 })
    slots.report(9, 1, { waitingQueueSize: 4, kvCacheUsage: 0.5 })
    const first = slots.tick()
    expect(columnOf(first, 'waiting_queue_size')).toEqual([[0, 0], [9, 4]])
    expect(columnOf(first, 'kv_cache_usage')).toEqual([[0, 0.25], [9, 0.5]])
    slots.report(0, 1, { waitingQueueSize: 0, kvCacheUsage: 0.25 })
    slots.report(9, 1, { waitingQueueSize: 5, kvCacheUsage: 0.5 })
    const second = slots.tick()
    expect(columnOf(second, 'waiting_queue_size')).toEqual([[9, 5]])
    expect(second?.columns).toHaveLength(1)
    expect(heardOf(second)).toEqual([0, 9])
  })

  it('renews the age of an endpoint whose values did not change', () => {
    const { slots } = given()
    slots.report(3, 1, { waitingQueueSize: 1 })
    slots.tick()
    slots.report(3, 1, { waitingQueueSize: 1 })
    const tick = slots.tick()
    expect(heardOf(tick)).toEqual([3])
    expect(tick?.columns).toEqual([])
  })

  it('writes whole values as whole numbers and the rest as real ones', () => {
    const { slots } = given()
    slots.report(0, 1, { waitingQueueSize: 3, runningRequestsSize: 2.5, cacheNumBlocks: 2 ** 60 })
    const { columns } = slots.tick() as TelemetryTick
    expect(columns.map(({ metric, whole, real }) => [metric, whole, real])).toEqual([
      ['waiting_queue_size', [3], []],
      ['running_requests_size', [], [2.5]],
      ['cache_num_blocks', [], [2 ** 60]],
    ])
  })

  it('keeps the value of a metric that a report does not have', () => {
    const { slots } = given()
    slots.report(0, 1, { waitingQueueSize: 7, kvCacheUsage: 0.1 })
    slots.report(0, 1, { kvCacheUsage: 0.2 })
    const tick = slots.tick()
    expect(columnOf(tick, 'waiting_queue_size')).toEqual([[0, 7]])
    expect(columnOf(tick, 'kv_cache_usage')).toEqual([[0, 0.2]])
  })

  it('carries custom metrics under their names', () => {
    const { slots } = given()
    slots.report(2, 1, { custom: new Map([['free_slots', 8], ['waiting_queue_size', 1.5]]) })
    const { columns } = slots.tick() as TelemetryTick
    expect(columns.map(({ metric, custom, slotDeltas }) => [metric, custom, slotDeltas])).toEqual([
      ['free_slots', true, [2]],
      ['waiting_queue_size', true, [2]],
    ])
  })

  it('sends model lists only when they changed, sorted by code unit', () => {
    const { slots } = given()
    const models = (): MetricsReport => ({ activeModels: new Map([['b', 1], ['a', 2]]), waitingModels: new Map() })
    slots.report(1, 1, models())
    expect(slots.tick()?.models).toEqual([{ slot: 1, active: [{ model: 'a', count: 2 }, { model: 'b', count: 1 }], waiting: [] }])
    slots.report(1, 1, models())
    expect(slots.tick()?.models).toEqual([])
    slots.report(1, 1, { activeModels: new Map(), waitingModels: new Map() })
    expect(slots.tick()?.models).toEqual([{ slot: 1, active: [], waiting: [] }])
  })

  it('says nothing of models where none ever ran', () => {
    const { slots } = given()
    slots.report(1, 1, { activeModels: new Map(), waitingModels: new Map() })
    expect(slots.tick()?.models).toEqual([])
  })

  it('grows to the slots it meets', () => {
    const { slots } = given()
    slots.report(5, 1, { waitingQueueSize: 1 })
    slots.report(5000, 1, { waitingQueueSize: 2 })
    const tick = slots.tick()
    expect(columnOf(tick, 'waiting_queue_size')).toEqual([[5, 1], [5000, 2]])
    expect(heardOf(tick)).toEqual([5, 5000])
  })
})

describe('newer and older', () => {
  it('counts the reports that a newer one replaced before the tick', () => {
    const { slots } = given()
    for (const waitingQueueSize of [1, 2, 3]) slots.report(0, 1, { waitingQueueSize })
    slots.report(1, 1, { waitingQueueSize: 9 })
    const tick = slots.tick()
    expect(tick?.superseded).toBe(2)
    expect(columnOf(tick, 'waiting_queue_size')).toEqual([[0, 3], [1, 9]])
    slots.report(0, 1, { waitingQueueSize: 4 })
    expect(slots.tick()?.superseded).toBe(0)
    expect(slots.counts.superseded).toBe(2)
  })

  it('drops and counts a report whose sequence is not above the last', () => {
    const { slots } = given()
    expect(slots.report(0, 1, { sequence: 5, waitingQueueSize: 5 })).toBe(true)
    expect(slots.report(0, 1, { sequence: 4, waitingQueueSize: 4 })).toBe(false)
    expect(slots.report(0, 1, { sequence: 5, waitingQueueSize: 6 })).toBe(false)
    expect(slots.counts.outOfOrder).toBe(2)
    expect(columnOf(slots.tick(), 'waiting_queue_size')).toEqual([[0, 5]])
  })

  it('begins anew with another life: old values, sequences and models are not its own', () => {
    const { lives, slots } = given()
    slots.report(0, 1, { sequence: 90, waitingQueueSize: 5, kvCacheUsage: 0.5, activeModels: new Map([['a', 1]]) })
    slots.tick()
    lives.set(0, 2)
    expect(slots.report(0, 2, { sequence: 1, waitingQueueSize: 5, activeModels: new Map([['a', 1]]) })).toBe(true)
    const tick = slots.tick()
    expect(columnOf(tick, 'waiting_queue_size')).toEqual([[0, 5]])
    expect(columnOf(tick, 'kv_cache_usage')).toEqual([])
    expect(tick?.models).toHaveLength(1)
  })

  it('drops and counts a report of a life that the slot no longer has', () => {
    const { lives, slots } = given()
    lives.set(0, 2)
    expect(slots.report(0, 1, { waitingQueueSize: 5 })).toBe(false)
    expect(slots.tick()).toBeUndefined()
    expect(slots.counts.otherLife).toBe(1)
  })

  it('never gives an endpoint the values of the one that had its slot before', () => {
    const { lives, slots } = given()
    slots.report(0, 1, { waitingQueueSize: 5 })
    slots.report(1, 1, { waitingQueueSize: 6 })
    lives.set(0, 2)
    const tick = slots.tick()
    expect(heardOf(tick)).toEqual([1])
    expect(columnOf(tick, 'waiting_queue_size')).toEqual([[1, 6]])
  })
})

describe('values that cannot be', () => {
  it('refuses them one by one, keeps what was there, and counts them by reason', () => {
    const { slots } = given()
    slots.report(0, 1, { waitingQueueSize: 1, runningRequestsSize: 2, kvCacheUsage: 0.3 })
    slots.tick()
    slots.report(0, 1, { waitingQueueSize: NaN, runningRequestsSize: Infinity, kvCacheUsage: -0.1, cacheBlockSize: 16 })
    expect(slots.tick()?.columns.map(({ metric }) => metric)).toEqual(['cache_block_size'])
    expect(slots.counts.refused).toMatchObject({ 'not-a-number': 1, infinite: 1, negative: 1 })
  })

  it('does not count an endpoint as heard from when nothing of its report could be taken', () => {
    const { slots } = given()
    expect(slots.report(0, 1, { kvCacheUsage: NaN })).toBe(false)
    expect(slots.report(1, 1, {})).toBe(false)
    expect(slots.tick()).toBeUndefined()
  })

  it('bounds the names of custom metrics', () => {
    const { slots } = given()
    const custom = new Map(Array.from({ length: 100 }, (_, index) => [`metric_${index}`, index]))
    slots.report(0, 1, { custom })
    expect(slots.tick()?.columns).toHaveLength(64)
    expect(slots.counts.refused['too-many-names']).toBe(36)
  })

  it('refuses a list of models beyond all measure and keeps the old one', () => {
    const { slots } = given()
    slots.report(0, 1, { activeModels: new Map([['a', 1]]) })
    slots.tick()
    slots.report(0, 1, { waitingQueueSize: 1, activeModels: new Map(Array.from({ length: 2000 }, (_, index) => [`m${index}`, 1])) })
    expect(slots.tick()?.models).toEqual([])
    expect(slots.counts.refused['too-many-models']).toBe(1)
  })
})

describe('for any reports', () => {
  const anyValue = fc.option(fc.oneof(fc.nat(5), fc.double(), fc.constant(-0)), { nil: undefined })
  const anyReport = fc.record({ slot: fc.nat(70), tick: fc.boolean(), waiting: anyValue, kv: anyValue, custom: anyValue })

  it('the ticks, encoded and folded, come to the newest value of each metric that could be taken', () => {
    fc.assert(
      fc.property(fc.array(anyReport, { maxLength: 60 }), (reports) => {
        const { slots } = given()
        const folded = new Map<string, number>()
        const expected = new Map<string, number>()
        const take = (): void => {
          const tick = slots.tick()
          if (tick === undefined) return
          const bytes = encodeTelemetryTick(tick, new Writer()).finish()
          const read = decodeTelemetryTick(new Reader(bytes))
          for (const { metric } of read.columns) for (const [slot, value] of columnOf(read, metric)) folded.set(`${metric}/${slot}`, value)
        }
        for (const { slot, tick, waiting, kv, custom } of reports) {
          const entries = [['waiting_queue_size', waiting], ['kv_cache_usage', kv], ['own', custom]] as const
          for (const [metric, value] of entries) if (value !== undefined && value >= 0 && value < Infinity) expected.set(`${metric}/${slot}`, value + 0)
          slots.report(slot, 1, {
            ...(waiting === undefined ? {} : { waitingQueueSize: waiting }),
            ...(kv === undefined ? {} : { kvCacheUsage: kv }),
            ...(custom === undefined ? {} : { custom: new Map([['own', custom]]) }),
          })
          if (tick) take()
        }
        take()
        expect(folded).toEqual(expected)
      }),
    )
  })
})
