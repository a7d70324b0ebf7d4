import type { Metrics } from '../../../core/endpoint.ts'
import type { MetricFamilies, Sample } from '../../../core/exposition.ts'
import type { EngineMapping } from './engines.ts'
import { select, type MetricSpec } from './metric-spec.ts'

/** What a scrape told: the fields that it renewed, and what was wrong with the others. */
export interface Extraction {
  readonly fields: Partial<Metrics>
  readonly problems: readonly string[]
}

/**
 * Makes metrics fields of parsed families. A field whose metric is missing or not a number is left out, so its old value
 * stays; whether anything came is whether `fields` is empty. (llm-d: core-metrics-extractor)
 */
export const extract = (families: MetricFamilies, mapping: EngineMapping): Extraction => {
  const fields: Partial<Metrics> = {}
  const problems: string[] = []
  const read = (spec: MetricSpec | undefined, take: (value: number, sample: Sample) => void): void => {
    if (spec === undefined) return
    const selected = select(families, spec)
    if ('problem' in selected) problems.push(selected.problem)
    else if (Number.isFinite(selected.value)) take(selected.value, selected.sample)
    else problems.push(`metric "${spec.name}" is ${selected.value}`)
  }
  read(mapping.waiting, (value) => (fields.waitingQueueSize = whole(value)))
  read(mapping.running, (value) => (fields.runningRequestsSize = whole(value)))
  read(mapping.kvUsage, (value) => (fields.kvCacheUsage = value))
  readLora(families, mapping.lora, fields, problems)
  read(mapping.cacheInfo, (_, { labels }) => {
    fields.cacheBlockSize = labelNumber(labels, mapping.cacheBlockSizeLabel, problems)
    fields.cacheNumBlocks = labelNumber(labels, mapping.cacheNumBlocksLabel, problems)
  })
  read(mapping.cacheBlockSize, (value) => (fields.cacheBlockSize = atLeastZero(value)))
  read(mapping.cacheNumBlocks, (value) => (fields.cacheNumBlocks = atLeastZero(value)))
  readCustom(families, mapping, read, fields)
  return { fields, problems }
}

const readCustom = (
  families: MetricFamilies,
  mapping: EngineMapping,
  read: (spec: MetricSpec, take: (value: number) => void) => void,
  fields: Partial<Metrics>,
): void => {
  const custom = new Map<string, number>()
  for (const { attributeKey, spec } of mapping.custom) read(spec, (value) => custom.set(attributeKey, value))
  for (const { attributeKey, spec } of mapping.added) {
    const selected = select(families, spec)
    // The sample itself: a sum or a count of a histogram has no kind of its own.
    if ('sample' in selected && Number.isFinite(selected.sample.value)) custom.set(attributeKey, selected.sample.value)
  }
  if (custom.size > 0) fields.custom = custom
}

/** The series with the highest value, which is a timestamp, is the newest. That there is none is no fault. */
const readLora = (families: MetricFamilies, spec: MetricSpec | undefined, fields: Partial<Metrics>, problems: string[]): void => {
  if (spec === undefined) return
  let newest: Sample | undefined
  for (const sample of families.get(spec.name)?.samples ?? []) {
    if (newest === undefined || sample.value > newest.value || Number.isNaN(newest.value)) newest = sample
  }
  if (newest === undefined) return
  fields.activeModels = adapters(newest.labels.get('running_lora_adapters'))
  fields.waitingModels = adapters(newest.labels.get('waiting_lora_adapters'))
  fields.maxActiveModels = labelNumber(newest.labels, 'max_lora', problems)
}

const adapters = (text: string | undefined): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const part of (text ?? '').split(',')) {
    const name = part.trim()
    if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** The number in a label; 0, which means "not reported", for what is none ("None") or below 0. */
const labelNumber = (labels: ReadonlyMap<string, string>, name: string, problems: string[]): number => {
  const text = labels.get(name) ?? ''
  if (text === '') return 0
  if (/^[+-]?\d+$/.test(text)) return atLeastZero(Number(text))
  problems.push(`label ${name} is "${text}", not a number`)
  return 0
}

const whole = (value: number): number => Math.trunc(value) + 0

const atLeastZero = (value: number): number => Math.max(0, Math.trunc(value))
