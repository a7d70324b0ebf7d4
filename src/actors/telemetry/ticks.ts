import { asyncScheduler, auditTime, filter, map } from 'rxjs'
import type { Observable, SchedulerLike } from 'rxjs'
import type { TelemetryTick } from '../../wire/input.ts'
import type { MetricsReport } from './report.ts'
import type { TelemetrySlots } from './slots.ts'

/** Between two ticks, in milliseconds: the time in which metrics that are scraped 20 times a second arrive once. */
export const TICK_MS = 50

/** A report and whose it is. */
export interface SlotReport {
  readonly slot: number
  readonly life: number
  readonly report: MetricsReport
}

/**
 * Puts the reports into their slots and gives a tick at most every 50 ms, only when something arrived.
 * A timer runs only while a report waits; when the reports end, what waits is still given.
 */
export const telemetryTicks = (
  reports: Observable<SlotReport>,
  slots: TelemetrySlots,
  clock: SchedulerLike = asyncScheduler,
): Observable<TelemetryTick> =>
  reports.pipe(
    filter(({ slot, life, report }) => slots.report(slot, life, report)),
    auditTime(TICK_MS, clock),
    map(() => slots.tick()),
    filter((tick) => tick !== undefined),
  )
