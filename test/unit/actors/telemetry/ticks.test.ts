import { Subject, VirtualTimeScheduler } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { telemetryTicks, TelemetrySlots, TICK_MS } from '../../../../src/actors/telemetry/index.ts'
import type { SlotReport } from '../../../../src/actors/telemetry/index.ts'
import type { TelemetryTick } from '../../../../src/wire/input.ts'

const given = () => {
  const clock = new VirtualTimeScheduler()
  const reports = new Subject<SlotReport>()
  const ticks: { readonly at: number; readonly tick: TelemetryTick }[] = []
  let ended = false
  telemetryTicks(reports, new TelemetrySlots(() => 1), clock).subscribe({
    next: (tick) => ticks.push({ at: clock.now(), tick }),
    complete: () => (ended = true),
  })
  const reportAt = (ms: number, slot: number, waitingQueueSize: number): void => {
    clock.schedule(() => reports.next({ slot, life: 1, report: { waitingQueueSize } }), ms)
  }
  return { clock, reports, ticks, reportAt, hasEnded: () => ended }
}

describe('telemetryTicks', () => {
  it('gives one tick for all that arrived within 50 ms, with the newest value of each', () => {
    const { clock, ticks, reportAt } = given()
    reportAt(0, 0, 1)
    reportAt(10, 1, 2)
    reportAt(49, 0, 3)
    clock.flush()
    expect(ticks.map(({ at }) => at)).toEqual([TICK_MS])
    expect(ticks[0]?.tick.columns[0]?.whole).toEqual([3, 2])
    expect(ticks[0]?.tick.superseded).toBe(1)
  })

  it('gives no tick and holds no timer while nothing arrives', () => {
    const { clock, ticks, reportAt } = given()
    reportAt(0, 0, 1)
    reportAt(1000, 0, 2)
    clock.flush()
    expect(ticks.map(({ at }) => at)).toEqual([50, 1050])
    expect(clock.actions).toHaveLength(0)
    expect(clock.now()).toBe(1050)
  })

  it('never gives two ticks within 50 ms', () => {
    const { clock, ticks, reportAt } = given()
    for (let ms = 0; ms < 1000; ms += 7) reportAt(ms, ms % 3, ms)
    clock.flush()
    const gaps = ticks.slice(1).map(({ at }, index) => at - (ticks[index] as { at: number }).at)
    expect(ticks.length).toBeGreaterThan(15)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(TICK_MS)
  })

  it('makes no tick of reports that could not be taken', () => {
    const { clock, reports, ticks } = given()
    clock.schedule(() => reports.next({ slot: 0, life: 7, report: { waitingQueueSize: 1 } }), 0)
    clock.schedule(() => reports.next({ slot: 0, life: 1, report: { waitingQueueSize: NaN } }), 1)
    clock.flush()
    expect(ticks).toEqual([])
    expect(clock.now()).toBe(1)
  })

  it('still gives what waits when the reports end', () => {
    const { clock, reports, ticks, reportAt, hasEnded } = given()
    reportAt(0, 0, 1)
    clock.schedule(() => reports.complete(), 10)
    clock.flush()
    expect(ticks).toHaveLength(1)
    expect(hasEnded()).toBe(true)
  })
})
