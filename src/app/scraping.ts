import { Subject } from 'rxjs'
import type { EngineActor } from '../actors/engine-actor.ts'
import { telemetryTicks, TelemetrySlots } from '../actors/telemetry/index.ts'
import type { SlotReport } from '../actors/telemetry/index.ts'
import { MetricsScraper } from '../adapters/metrics-scrape/index.ts'
import type { ScrapeTarget } from '../adapters/metrics-scrape/index.ts'
import type { CompletedConfiguration } from '../core/configuration.ts'
import type { Observation, Plugin } from '../core/contract.ts'
import { CoreMetricsExtractor } from '../plugins/extractor/core-metrics-extractor/index.ts'
import { MetricsDataSource } from '../plugins/source/metrics-data-source/index.ts'

export interface ScrapingOptions {
  readonly actor: EngineActor
  readonly configuration: CompletedConfiguration
  readonly intervalMs: number
  readonly pollsMax: number
  observe(observation: Observation): void
  /** Endpoints whose metrics come in another way. */
  except?(endpoint: string): boolean
  /** Scrapes of an endpoint went wrong in a new way, or are right again. */
  changed(endpoint: string, problem: string | undefined, message: string): void
}

interface Watched extends ScrapeTarget {
  readonly slot: number
  readonly life: number
}

/** Asks the endpoints in the engine for their metrics, as the configured source and extractor say, and feeds the ticks. */
export class Scraping {
  readonly slots: TelemetrySlots
  private readonly actor: EngineActor
  private readonly except: (endpoint: string) => boolean
  private readonly reports = new Subject<SlotReport>()
  private readonly source: MetricsDataSource | undefined
  private readonly scraper: MetricsScraper<Watched> | undefined
  private readonly watched = new Map<string, Watched>()

  constructor(options: ScrapingOptions) {
    this.actor = options.actor
    this.except = (endpoint) => options.except?.(endpoint) === true
    const { fleet, pipeline } = options.actor.engine.view
    this.slots = new TelemetrySlots((slot) => fleet.atSlot(slot)?.endpoint.life ?? 0)
    telemetryTicks(this.reports, this.slots).subscribe((value) => options.actor.submit({ input: { kind: 'telemetryTick', value } }))
    const pair = configuredPair(options.configuration, pipeline.plugins)
    this.source = pair?.source
    this.scraper = pair === undefined ? undefined : new MetricsScraper<Watched>({
      ...pair,
      intervalMs: options.intervalMs,
      pollsMax: options.pollsMax,
      report: ({ slot, life }, report) => this.reports.next({ slot, life, report }),
      observe: options.observe,
      changed: ({ id }, problem, message) => options.changed(id, problem, message),
    })
  }

  /** What is polled now; undefined where no plugin scrapes. */
  get counts(): MetricsScraper['counts'] | undefined {
    return this.scraper?.counts
  }

  /** Asks whoever is in the fleet now, and nobody else. To be called when it changed. */
  follow(): void {
    const { source, scraper } = this
    if (source === undefined || scraper === undefined) return
    const present = this.actor.engine.view.fleet.present().filter(({ id }) => !this.except(id))
    const ids = new Set(present.map(({ id }) => id))
    for (const id of this.watched.keys()) if (!ids.has(id)) this.forget(scraper, id)
    for (const endpoint of present) {
      const next: Watched = { id: endpoint.id, url: source.urlOf(endpoint), labels: endpoint.labels, slot: endpoint.slot, life: endpoint.life }
      const known = this.watched.get(next.id)
      if (known !== undefined && known.life === next.life && known.url === next.url && known.labels === next.labels) continue
      this.watched.set(next.id, next)
      scraper.watch(next)
    }
  }

  /** Takes a report that came in another way. */
  feed(report: SlotReport): void {
    this.reports.next(report)
  }

  async close(): Promise<void> {
    await this.scraper?.close()
    this.reports.complete()
  }

  private forget(scraper: MetricsScraper<Watched>, id: string): void {
    this.watched.delete(id)
    scraper.forget(id)
  }
}

/** The first configured source that scrapes metrics, with its extractor. */
const configuredPair = (configuration: CompletedConfiguration, plugins: readonly Plugin[]): { readonly source: MetricsDataSource; readonly extractor: CoreMetricsExtractor } | undefined => {
  const named = (name: string): Plugin | undefined => plugins.find(({ typedName }) => typedName.name === name)
  for (const { source: sourceName, extractors } of configuration.dataLayer.sources) {
    const source = named(sourceName)
    const extractor = extractors.map(named).find((plugin) => plugin instanceof CoreMetricsExtractor)
    if (source instanceof MetricsDataSource && extractor instanceof CoreMetricsExtractor) return { source, extractor }
  }
  return undefined
}
