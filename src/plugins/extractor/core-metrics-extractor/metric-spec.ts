import type { MetricFamilies, Sample } from '../../../core/exposition.ts'
import { ParameterError } from '../../../core/parameters.ts'

/** Selects samples of one metric: those that bear all these labels. */
export interface MetricSpec {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
}

const SELECTOR = /^\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{([^}]*)\})?\s*$/
const MATCHER = /^\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",}=~!\s]+))\s*$/

/** Reads `name{label=value,label="value"}`; '' selects nothing. Throws a ParameterError on anything else. */
export const parseMetricSpec = (text: string, path: readonly string[]): MetricSpec | undefined => {
  if (text === '') return undefined
  const [whole, name = '', inside = ''] = SELECTOR.exec(text) ?? []
  if (whole === undefined) throw new ParameterError(`"${text}" is not a valid metric specification, such as name{label="value"}`, path)
  const labels = new Map<string, string>()
  for (const part of inside.split(',')) {
    if (part.trim() === '') continue
    const match = MATCHER.exec(part)
    if (match === null) throw new ParameterError(`"${part.trim()}" in "${text}" is not a valid metric specification: only label=value is`, path)
    labels.set(match[1] ?? '', match[2]?.replace(/\\(.)/g, '$1') ?? match[3] ?? '')
  }
  return { name, labels }
}

/** The sample selected, or why there is none. */
export type Selected = { readonly sample: Sample; readonly value: number } | { readonly problem: string }

/**
 * Takes the matching sample with the latest timestamp, the first of equals. Its value is 0 unless the metric is a gauge
 * or a counter. (llm-d: metric specifications)
 */
export const select = (families: MetricFamilies, spec: MetricSpec): Selected => {
  const family = families.get(spec.name)
  if (family === undefined) return { problem: `metric family "${spec.name}" not found` }
  let latest: Sample | undefined
  for (const sample of family.samples) {
    if (!bears(sample, spec.labels)) continue
    if (latest === undefined || (sample.timestampMs ?? 0) > (latest.timestampMs ?? 0)) latest = sample
  }
  if (latest === undefined) return { problem: `no matching metric found for "${spec.name}"` }
  const value = family.kind === 'gauge' || family.kind === 'counter' ? latest.value : 0
  return { sample: latest, value }
}

const bears = (sample: Sample, labels: ReadonlyMap<string, string>): boolean => {
  for (const [name, value] of labels) if (sample.labels.get(name) !== value) return false
  return true
}
