import type { Metric, Registry } from 'prom-client'

/**
 * The library hashes the labels of a series each time it is counted, which costs more than a turn of the engine. So what
 * is counted are plain cells, found once and held by whoever counts, and the library reads them when it is asked.
 */

/** A number that rises, or is set. */
export class NumberCell {
  value = 0

  add(amount: number = 1): void {
    this.value += amount
  }

  set(value: number): void {
    this.value = value
  }
}

/** How often values fell into each bucket. */
export class HistogramCell {
  readonly bounds: readonly number[]
  /** One more than there are bounds: the last is for what is above them all. */
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    if (!Number.isFinite(value)) return
    const { bounds, counts } = this
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (value <= (bounds[middle] as number)) high = middle
      else low = middle + 1
    }
    counts[low] = (counts[low] as number) + 1
    this.sum += value
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0)
  }
}

interface Exposed {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

interface Child<C> {
  readonly labels: Readonly<Record<string, string>>
  readonly cell: C
}

export interface FamilyDescription {
  readonly name: string
  readonly help: string
  readonly labels: readonly string[]
  /** Series at most; what comes beyond is not counted. */
  readonly seriesMax?: number
}

/** Bound of series in one family: a scrape of more takes the collector too long. */
const SERIES_MAX = 10_000
const SEPARATOR = '\u0000'

/** All series of one metric. */
export abstract class Family<C> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  abstract readonly type: 'counter' | 'gauge' | 'histogram'
  /** Called before the series are read. */
  collect: (() => void) | undefined = undefined
  /** Samples that found no place. */
  dropped = 0
  /** Rises when series are dropped: a cell from before may be one that nobody reads. */
  generation = 0
  protected readonly children = new Map<string, Child<C>>()
  private readonly seriesMax: number

  constructor({ name, help, labels, seriesMax = SERIES_MAX }: FamilyDescription) {
    this.name = name
    this.help = help
    this.labelNames = labels
    this.seriesMax = seriesMax
  }

  get size(): number {
    return this.children.size
  }

  /** The cell of the series with these label values, in the order of the names; undefined when there are too many. */
  find(values: readonly string[]): C | undefined {
    const key = values.join(SEPARATOR)
    const known = this.children.get(key)
    if (known !== undefined) return known.cell
    if (this.children.size >= this.seriesMax) this.makeRoom()
    if (this.children.size >= this.seriesMax) {
      this.dropped += 1
      return undefined
    }
    const cell = this.newCell()
    this.children.set(key, { labels: Object.fromEntries(this.labelNames.map((name, index) => [name, values[index] ?? ''])), cell })
    return cell
  }

  /** As `find`; beyond the bound a cell that nobody reads. */
  cell(...values: readonly string[]): C {
    return this.find(values) ?? this.newCell()
  }

  clear(): void {
    this.generation += 1
    this.children.clear()
  }

  /** What the registry reads, twins of another name included. */
  exposed(name: string = this.name): Exposed[] {
    return [...this.children.values()].flatMap(({ labels, cell }) => this.exposedCell(name, labels, cell))
  }

  register(registry: Registry): this {
    registry.registerMetric(this.asMetric(this.name, this.help, () => this.exposed()))
    return this
  }

  /** Shows the family under an old name too, summed over all series, without labels. */
  registerTwin(registry: Registry, name: string, help: string): void {
    registry.registerMetric(this.asMetric(name, help, () => this.exposedCell(name, {}, this.total([...this.children.values()].map(({ cell }) => cell)))))
  }

  protected abstract newCell(): C
  protected abstract exposedCell(name: string, labels: Exposed['labels'], cell: C): Exposed[]
  protected abstract total(cells: readonly C[]): C
  protected makeRoom(): void {}

  /** The library asks no more of a metric than this, but its type names the classes it has itself. */
  private asMetric(name: string, help: string, values: () => Exposed[]): Metric {
    const read = async (): Promise<object> => {
      this.collect?.()
      return { name, help, type: this.type, aggregator: 'sum', values: values() }
    }
    return { name, help, type: this.type, get: read } as unknown as Metric
  }
}

export class CounterFamily extends Family<NumberCell> {
  override readonly type = 'counter'
  protected override newCell = (): NumberCell => new NumberCell()
  protected override exposedCell = numberExposed
  protected override total = numberTotal
}

export class GaugeFamily extends Family<NumberCell> {
  override readonly type = 'gauge'
  protected override newCell = (): NumberCell => new NumberCell()
  protected override exposedCell = numberExposed
  protected override total = numberTotal

  /** What is at 0 says the least. */
  protected override makeRoom(): void {
    this.generation += 1
    for (const [key, { cell }] of this.children) if (cell.value === 0) this.children.delete(key)
  }
}

export class HistogramFamily extends Family<HistogramCell> {
  override readonly type = 'histogram'
  private readonly bounds: readonly number[]

  constructor(description: FamilyDescription, bounds: readonly number[]) {
    super(description)
    this.bounds = bounds
  }

  protected override newCell(): HistogramCell {
    return new HistogramCell(this.bounds)
  }

  /** The cells of a kind of request are made together; those that never counted would only make the exposition long. */
  protected override exposedCell(name: string, labels: Exposed['labels'], cell: HistogramCell): Exposed[] {
    const { bounds, counts, sum } = cell
    if (this.labelNames.length > 0 && cell.count === 0) return []
    const metricName = `${name}_bucket`
    let count = 0
    const buckets = bounds.map((le, index) => ({ metricName, labels: { ...labels, le }, value: (count += counts[index] as number) }))
    count += counts[bounds.length] as number
    return [
      ...buckets,
      { metricName, labels: { ...labels, le: '+Inf' }, value: count },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }

  protected override total(cells: readonly HistogramCell[]): HistogramCell {
    const total = this.newCell()
    for (const cell of cells) {
      cell.counts.forEach((count, index) => (total.counts[index] = (total.counts[index] as number) + count))
      total.sum += cell.sum
    }
    return total
  }
}

function numberExposed(_name: string, labels: Exposed['labels'], { value }: NumberCell): Exposed[] {
  return [{ labels, value }]
}

function numberTotal(cells: readonly NumberCell[]): NumberCell {
  const total = new NumberCell()
  for (const { value } of cells) total.add(value)
  return total
}
