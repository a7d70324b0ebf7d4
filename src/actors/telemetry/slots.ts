import { METRIC_FIELDS } from '../../engine/telemetry.ts'
import type { MetricName } from '../../engine/telemetry.ts'
import type { MetricColumn, TelemetryTick } from '../../wire/input.ts'
import { faultOf, MetricValues } from './metric-values.ts'
import type { RefusalReason } from './metric-values.ts'
import { ModelLists } from './model-lists.ts'
import type { MetricsReport } from './report.ts'

/** Custom metrics are named in the configuration; more names than this are a mistake, and each is a column of all slots. */
const CUSTOM_NAMES_MAX = 64
/** LoRA adapters in one list of one endpoint: engines hold a few dozen. */
const MODELS_MAX = 1024
/** Counts of models travel as 32 bits. */
const COUNT_MAX = 0xffff_ffff
const FIRST_SLOTS = 64

type FieldName = (typeof METRIC_FIELDS)[MetricName]

const FIELDS = Object.entries(METRIC_FIELDS) as readonly (readonly [MetricName, FieldName])[]

/** What became of the reports, in numbers that only rise. */
export interface TelemetryCounts {
  /** Reports that were given. */
  readonly reports: number
  /** Reports that a newer one replaced before a tick took them. */
  readonly superseded: number
  /** Reports whose sequence was not above the one before. */
  readonly outOfOrder: number
  /** Reports of a life that the slot's endpoint does not have (any more). */
  readonly otherLife: number
  /** Values not taken, by reason; the value from before stays. */
  readonly refused: Readonly<Record<RefusalReason, number>>
}

/**
 * The newest metrics of each endpoint, in columns by slot, waiting for the next telemetry tick.
 * An endpoint counts as heard from when a report held at least one value that could be taken.
 */
export class TelemetrySlots {
  /** Life of the endpoint that has this slot in the engine now; 0 for none. */
  private readonly lifeAt: (slot: number) => number
  private readonly scalars: readonly (readonly [name: FieldName, values: MetricValues])[]
  private readonly custom = new Map<string, MetricValues>()
  private readonly models = new ModelLists()
  private readonly counted = newCounts()
  private slots = FIRST_SLOTS
  private lives = new Float64Array(FIRST_SLOTS)
  private sequences = new Float64Array(FIRST_SLOTS).fill(-1)
  private heard = new Uint8Array(FIRST_SLOTS)
  private anyHeard = false
  private supersededNow = 0

  constructor(lifeAt: (slot: number) => number) {
    this.lifeAt = lifeAt
    this.scalars = FIELDS.map(([metric, field]) => [field, new MetricValues(metric, false, FIRST_SLOTS)])
  }

  get counts(): TelemetryCounts {
    return this.counted
  }

  /** Takes a report for the endpoint of this life at this slot. False when nothing of it could be taken. */
  report(slot: number, life: number, report: MetricsReport): boolean {
    this.counted.reports += 1
    if (this.lifeAt(slot) !== life) {
      this.counted.otherLife += 1
      return false
    }
    this.settle(slot, life)
    const { sequence } = report
    if (sequence !== undefined) {
      if (!(sequence > (this.sequences[slot] as number))) {
        this.counted.outOfOrder += 1
        return false
      }
      this.sequences[slot] = sequence
    }
    if (!this.takeValues(slot, report)) return false
    if (this.heard[slot] === 1) {
      this.counted.superseded += 1
      this.supersededNow += 1
    }
    this.heard[slot] = 1
    this.anyHeard = true
    return true
  }

  /** What arrived since the last tick; undefined when nothing did. Slots whose endpoint went meanwhile are left out. */
  tick(): TelemetryTick | undefined {
    if (!this.anyHeard) return undefined
    const slots = this.takeHeard()
    if (slots.length === 0) return undefined
    const superseded = this.supersededNow
    this.supersededNow = 0
    const columns: MetricColumn[] = []
    for (const [, values] of this.scalars) append(columns, values.take(slots))
    for (const values of this.custom.values()) append(columns, values.take(slots))
    return { heard: bitmap(slots), columns, models: this.models.take(slots), superseded }
  }

  /** Makes the slot one of this life: what was known of another life says nothing of this one. */
  private settle(slot: number, life: number): void {
    if (slot >= this.slots) this.grow(slot)
    if (this.lives[slot] === life) return
    this.lives[slot] = life
    this.sequences[slot] = -1
    this.heard[slot] = 0
    this.reset(slot)
  }

  private reset(slot: number): void {
    for (const [, values] of this.scalars) values.reset(slot)
    for (const values of this.custom.values()) values.reset(slot)
    this.models.reset(slot)
  }

  private takeValues(slot: number, report: MetricsReport): boolean {
    let taken = false
    for (let i = 0; i < this.scalars.length; i++) {
      const [name, values] = this.scalars[i] as (typeof this.scalars)[number]
      const value = report[name]
      if (value === undefined || this.refuses(value)) continue
      values.set(slot, value)
      taken = true
    }
    if (report.custom !== undefined && this.takeCustom(slot, report.custom)) taken = true
    if ((report.activeModels !== undefined || report.waitingModels !== undefined) && this.takeModels(slot, report)) taken = true
    return taken
  }

  private takeCustom(slot: number, custom: ReadonlyMap<string, number>): boolean {
    let taken = false
    for (const [name, value] of custom) {
      if (this.refuses(value)) continue
      const values = this.custom.get(name) ?? this.addCustom(name)
      if (values === undefined) continue
      values.set(slot, value)
      taken = true
    }
    return taken
  }

  private addCustom(name: string): MetricValues | undefined {
    if (this.custom.size >= CUSTOM_NAMES_MAX) {
      this.counted.refused['too-many-names'] += 1
      return undefined
    }
    const values = new MetricValues(name, true, this.slots)
    this.custom.set(name, values)
    return values
  }

  private takeModels(slot: number, { activeModels, waitingModels }: MetricsReport): boolean {
    const active = this.countsTaken(activeModels)
    const waiting = this.countsTaken(waitingModels)
    if (active === undefined && waiting === undefined) return false
    this.models.set(slot, active, waiting)
    return true
  }

  private countsTaken(counts: ReadonlyMap<string, number> | undefined): ReadonlyMap<string, number> | undefined {
    if (counts === undefined || counts.size === 0) return counts
    if (counts.size > MODELS_MAX) {
      this.counted.refused['too-many-models'] += 1
      return undefined
    }
    const taken = new Map<string, number>()
    for (const [model, count] of counts) if (!this.refuses(count)) taken.set(model, Math.min(Math.round(count), COUNT_MAX))
    return taken
  }

  private refuses(value: number): boolean {
    const fault = faultOf(value)
    if (fault === undefined) return false
    this.counted.refused[fault] += 1
    return true
  }

  private takeHeard(): number[] {
    const slots: number[] = []
    for (let slot = 0; slot < this.slots; slot++) {
      if (this.heard[slot] === 0) continue
      this.heard[slot] = 0
      if (this.lifeAt(slot) === this.lives[slot]) slots.push(slot)
      else this.counted.otherLife += 1
    }
    this.anyHeard = false
    return slots
  }

  private grow(slot: number): void {
    while (this.slots <= slot) this.slots *= 2
    this.lives = copied(this.lives, new Float64Array(this.slots))
    this.sequences = copied(this.sequences, new Float64Array(this.slots).fill(-1))
    this.heard = copied(this.heard, new Uint8Array(this.slots))
    for (const [, values] of this.scalars) values.grow(this.slots)
    for (const values of this.custom.values()) values.grow(this.slots)
  }
}

const newCounts = () => ({
  reports: 0,
  superseded: 0,
  outOfOrder: 0,
  otherLife: 0,
  refused: { 'not-a-number': 0, infinite: 0, negative: 0, 'too-many-names': 0, 'too-many-models': 0 },
})

const append = (columns: MetricColumn[], column: MetricColumn | undefined): void => {
  if (column !== undefined) columns.push(column)
}

const copied = <A extends Float64Array | Uint8Array>(from: A, to: A): A => {
  to.set(from)
  return to
}

/** One bit a slot, the lowest bit of the first byte for slot 0; the slots rise. */
const bitmap = (slots: readonly number[]): Uint8Array => {
  const bits = new Uint8Array(((slots.at(-1) as number) >> 3) + 1)
  for (const slot of slots) bits[slot >> 3] = (bits[slot >> 3] as number) | (1 << (slot & 7))
  return bits
}
