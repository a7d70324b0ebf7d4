/** One value of a metric as an endpoint exposes it. */
export interface Sample {
  readonly name: string
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
  /** Milliseconds since the Unix epoch; most endpoints give none. */
  readonly timestampMs?: number
}

export type MetricKind = 'gauge' | 'counter' | 'histogram' | 'summary' | 'untyped'

/** The samples of one metric, in the order in which they stood. */
export interface MetricFamily {
  readonly name: string
  readonly kind: MetricKind
  readonly samples: readonly Sample[]
}

/** What one scrape gave, by family name. */
export type MetricFamilies = ReadonlyMap<string, MetricFamily>
