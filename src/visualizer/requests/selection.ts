import { OUTCOMES } from '../../replay/timeline/timeline.ts'
import type { RequestData } from '../worker/messages.ts'

export const METRICS = ['firstToken', 'queue', 'endToEnd'] as const
export type Metric = (typeof METRICS)[number]
export const METRIC_TEXT: Readonly<Record<Metric, string>> = { firstToken: 'time to first token', queue: 'until sent', endToEnd: 'end to end' }

/** What is filtered on; empty text means all. */
export interface Filters {
  readonly model: string
  readonly outcome: string
  readonly lane: number
  readonly decisionType: string
  readonly text: string
  readonly brushes: Readonly<Partial<Record<Metric, readonly [from: number, to: number]>>>
}

export const NO_FILTERS: Filters = { model: '', outcome: '', lane: -1, decisionType: '', text: '', brushes: {} }

/** A duration of a request in microseconds; NaN while it is not known. */
export const metricOf = (requests: RequestData, metric: Metric, row: number): number => {
  const received = requests.receivedAt[row] as number
  if (metric === 'firstToken') return (requests.firstByteAt[row] as number) - received
  if (metric === 'endToEnd') return (requests.endedAt[row] as number) - received
  return (requests.sentAt[row] as number) - received
}

/** Rows that pass the filters; with `without` that metric's brush is not looked at, as for its own histogram. */
export const selectRows = (requests: RequestData, filters: Filters, without?: Metric): number[] => {
  const { model, outcome, lane, decisionType, text, brushes } = filters
  const brushed = METRICS.filter((metric) => metric !== without && brushes[metric] !== undefined)
  const rows: number[] = []
  for (let row = 0; row < requests.key.length; row += 1) {
    if (model !== '' && requests.models[requests.model[row] as number] !== model) continue
    if (outcome !== '' && OUTCOMES[requests.outcome[row] as number] !== outcome) continue
    if (lane >= 0 && requests.lane[row] !== lane) continue
    if (decisionType !== '' && requests.decisionTypes[requests.decisionType[row] as number] !== decisionType) continue
    if (text !== '' && !(requests.ids[row] ?? '').includes(text)) continue
    const within = brushed.every((metric) => {
      const value = metricOf(requests, metric, row)
      const [from, to] = brushes[metric] as readonly [number, number]
      return value >= from && value <= to
    })
    if (within) rows.push(row)
  }
  return rows
}
