import { readFileSync } from 'node:fs'
import { Client } from 'undici'
import type { Observation } from '../../core/contract.ts'
import type { Metrics } from '../../core/endpoint.ts'
import type { MetricFamilies } from '../../core/exposition.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { EngineMapping, Extraction } from '../../plugins/extractor/core-metrics-extractor/index.ts'
import type { MetricsSourceSettings } from '../../plugins/source/metrics-data-source/index.ts'
import { parseExposition } from './exposition.ts'
import { Poll } from './poll.ts'
import type { PollFailure } from './poll.ts'
import { Rounds } from './rounds.ts'
import { familiesOf } from './wanted-families.ts'
import type { WantedFamilies } from './wanted-families.ts'

/** Once in this many milliseconds each endpoint is asked; the least there is. (llm-d: --refresh-metrics-interval) */
const BASE_INTERVAL_MS = 50
/** From asking to the last byte. (llm-d: per poll) */
const POLL_TIMEOUT_MS = 1000
/** An exposition of an engine is some 30 kB. */
const RESPONSE_BYTES_MAX = 8 * 1024 * 1024
/** Polls at once: a bound on sockets in use and on memory for what they answer. */
const POLLS_MAX = 1024
/** Below the 5 s after which uvicorn, under most endpoints, closes an idle connection. */
const IDLE_MS = 4000

/** An endpoint to be asked. */
export interface ScrapeTarget {
  readonly id: string
  /** scheme://host:port/path */
  readonly url: string
  readonly labels: ReadonlyMap<string, string>
}

/** What reads the families; `CoreMetricsExtractor` is one. */
interface FamilyExtractor {
  readonly typedName: { readonly type: string }
  mappingFor(labels: ReadonlyMap<string, string>): EngineMapping
  extract(families: MetricFamilies, labels: ReadonlyMap<string, string>): Extraction
}

/** Why an endpoint's metrics could not be had, or not all of them. */
export type ScrapeProblem = PollFailure | 'exposition' | 'extract'

export interface ScraperOptions<T extends ScrapeTarget> {
  readonly source: { readonly typedName: { readonly type: string }; readonly settings: MetricsSourceSettings }
  readonly extractor: FamilyExtractor
  /** Milliseconds between two polls of an endpoint, at least 50. */
  readonly intervalMs?: number
  readonly timeoutMs?: number
  readonly responseBytesMax?: number
  readonly pollsMax?: number
  /** At least one field. */
  readonly report: (target: T, fields: Partial<Metrics>) => void
  readonly observe: (observation: Observation) => void
  /** Told when an endpoint's scrapes begin to go wrong in this way, and when they are right again. */
  readonly changed?: (target: T, problem: ScrapeProblem | undefined, message: string) => void
}

interface Asked<T> {
  readonly target: T
  readonly client: Client
  readonly path: string
  readonly wanted: WantedFamilies
  poll: Poll | undefined
  askedMs: number
  /** It is known to give no answer: it may not take the places of those that do. */
  isSuspect: boolean
  problem: ScrapeProblem | undefined
}

/**
 * Asks every endpoint for its metrics, each at most once at a time, and reports what they say. Endpoints that hang or
 * fail hold up no other, and whatever belongs to an endpoint goes when it is forgotten.
 */
export class MetricsScraper<T extends ScrapeTarget = ScrapeTarget> {
  private readonly options: ScraperOptions<T>
  private readonly timeoutMs: number
  private readonly bytesMax: number
  private readonly pollsMax: number
  private readonly tls: Client.Options['connect']
  private readonly intervalMs: number
  private readonly rounds: Rounds<Asked<T>>
  private readonly known = new Map<string, Asked<T>>()
  private readonly wantedBy = new Map<EngineMapping, WantedFamilies>()
  private readonly waiting = new Set<Asked<T>>()
  private readonly waitingSuspects = new Set<Asked<T>>()
  private polling = 0
  private suspectsPolling = 0
  private skippedRounds = 0

  /** @throws SignalboxError parameter-invalid where a certificate cannot be read */
  constructor(options: ScraperOptions<T>) {
    this.options = options
    this.timeoutMs = options.timeoutMs ?? POLL_TIMEOUT_MS
    this.bytesMax = options.responseBytesMax ?? RESPONSE_BYTES_MAX
    this.pollsMax = options.pollsMax ?? POLLS_MAX
    this.tls = tlsOptions(options.source.settings)
    this.intervalMs = intervalOf(options)
    this.rounds = new Rounds(this.intervalMs, (asked, nowMs) => this.due(asked, nowMs))
  }

  /** Endpoints watched, polls under way or waiting for a place, and rounds that found the last one still so. */
  get counts(): { readonly endpoints: number; readonly polling: number; readonly waiting: number; readonly skipped: number } {
    return { endpoints: this.known.size, polling: this.polling, waiting: this.waiting.size + this.waitingSuspects.size, skipped: this.skippedRounds }
  }

  /** Asks this endpoint from now on, in place of one with the same id. */
  watch(target: T): void {
    this.forget(target.id)
    const { origin, pathname, search } = new URL(target.url)
    // Rounds that come often watch over the time, without a timer for each poll.
    const ownTimeoutMs = this.intervalMs < this.timeoutMs ? 0 : this.timeoutMs
    const client = new Client(origin, {
      connect: { timeout: this.timeoutMs, ...(this.tls as object) },
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      headersTimeout: ownTimeoutMs,
      bodyTimeout: ownTimeoutMs,
    })
    const wanted = this.wantedOf(target.labels)
    const asked: Asked<T> = { target, client, path: pathname + search, wanted, poll: undefined, askedMs: 0, isSuspect: false, problem: undefined }
    this.known.set(target.id, asked)
    this.rounds.add(asked)
  }

  /** Asks this endpoint no more, and closes what was open to it. */
  forget(id: string): void {
    const asked = this.known.get(id)
    if (asked === undefined) return
    this.known.delete(id)
    this.rounds.delete(asked)
    this.waiting.delete(asked)
    this.waitingSuspects.delete(asked)
    void this.drop(asked)
  }

  async close(): Promise<void> {
    this.rounds.clear()
    this.waiting.clear()
    this.waitingSuspects.clear()
    const all = [...this.known.values()]
    this.known.clear()
    await Promise.all(all.map((asked) => this.drop(asked)))
  }

  private async drop(asked: Asked<T>): Promise<void> {
    asked.poll?.giveUp()
    this.free(asked)
    // Destroying tells polls of it, which are given up, and may tell again of what broke the connection.
    await asked.client.destroy().catch(() => undefined)
  }

  private due(asked: Asked<T>, nowMs: number): void {
    if (asked.poll !== undefined && nowMs - asked.askedMs >= this.timeoutMs) asked.poll.fail('timeout', `no answer within ${this.timeoutMs} ms`)
    if (asked.poll !== undefined || this.waiting.has(asked) || this.waitingSuspects.has(asked)) this.skippedRounds += 1
    else if (this.hasPlaceFor(asked)) this.ask(asked, nowMs)
    else (asked.isSuspect ? this.waitingSuspects : this.waiting).add(asked)
  }

  /** Suspects may have half of the places at most, so that the others are asked whatever they do. */
  private hasPlaceFor(asked: Asked<T>): boolean {
    if (this.polling >= this.pollsMax) return false
    return !asked.isSuspect || this.suspectsPolling < Math.max(1, this.pollsMax / 2)
  }

  private ask(asked: Asked<T>, nowMs: number): void {
    this.polling += 1
    if (asked.isSuspect) this.suspectsPolling += 1
    asked.askedMs = nowMs
    const poll = new Poll(
      {
        done: (bytes, isOpenMetrics) => {
          this.over(asked, false)
          this.read(asked, bytes, isOpenMetrics)
        },
        failed: (failure, message) => {
          this.over(asked, failure === 'timeout')
          this.countPollError()
          this.tell(asked, failure, message)
        },
      },
      this.bytesMax,
    )
    asked.poll = poll
    poll.start(asked.client, asked.path)
  }

  private over(asked: Asked<T>, hung: boolean): void {
    this.free(asked)
    asked.isSuspect = hung
    for (const queue of [this.waiting, this.waitingSuspects]) {
      const [next] = queue
      if (next === undefined || !this.hasPlaceFor(next)) continue
      queue.delete(next)
      this.ask(next, performance.now())
      return
    }
  }

  private free(asked: Asked<T>): void {
    if (asked.poll === undefined) return
    asked.poll = undefined
    this.polling -= 1
    if (asked.isSuspect) this.suspectsPolling -= 1
  }

  private read(asked: Asked<T>, bytes: Uint8Array, isOpenMetrics: boolean): void {
    const { extractor, report, observe, source } = this.options
    const { families, faults, faultCount } = parseExposition(bytes, asked.wanted, isOpenMetrics ? 's' : 'ms')
    const { fields, problems } = extractor.extract(families, asked.target.labels)
    if (faultCount > 0) this.countPollError()
    if (problems.length > 0) {
      observe({ kind: 'counter', name: 'datalayer_extract_errors_total', labels: { source_type: source.typedName.type, extractor_type: extractor.typedName.type }, value: 1 })
    }
    const [fault] = faults
    if (fault !== undefined) this.tell(asked, 'exposition', `line ${fault.line}: ${fault.message}${faultCount > 1 ? `, and ${faultCount - 1} more` : ''}`)
    else this.tell(asked, problems.length > 0 ? 'extract' : undefined, problems.join('; '))
    if (Object.keys(fields).length > 0) report(asked.target, fields)
  }

  private tell(asked: Asked<T>, problem: ScrapeProblem | undefined, message: string): void {
    if (asked.problem === problem) return
    asked.problem = problem
    this.options.changed?.(asked.target, problem, message)
  }

  private countPollError(): void {
    this.options.observe({ kind: 'counter', name: 'datalayer_poll_errors_total', labels: { source_type: this.options.source.typedName.type }, value: 1 })
  }

  private wantedOf(labels: ReadonlyMap<string, string>): WantedFamilies {
    const mapping = this.options.extractor.mappingFor(labels)
    const known = this.wantedBy.get(mapping)
    if (known !== undefined) return known
    const wanted = familiesOf(mapping)
    this.wantedBy.set(mapping, wanted)
    return wanted
  }
}

/** A source's own interval, in whole rounds of the given one. (llm-d: round(interval / tick)) */
const intervalOf = ({ intervalMs, source }: Pick<ScraperOptions<ScrapeTarget>, 'intervalMs' | 'source'>): number => {
  const tick = Math.max(BASE_INTERVAL_MS, Math.min(intervalMs ?? BASE_INTERVAL_MS, source.settings.intervalMs ?? Infinity))
  return source.settings.intervalMs === undefined ? tick : tick * Math.max(1, Math.round(source.settings.intervalMs / tick))
}

const tlsOptions = ({ scheme, insecureSkipVerify, caCertPath, clientCertPath, clientKeyPath }: MetricsSourceSettings): Client.Options['connect'] => {
  if (scheme !== 'https') return {}
  return {
    rejectUnauthorized: !insecureSkipVerify,
    ...(caCertPath === '' ? {} : { ca: readCertificate('caCertPath', caCertPath) }),
    ...(clientCertPath === '' ? {} : { cert: readCertificate('clientCertPath', clientCertPath) }),
    ...(clientKeyPath === '' ? {} : { key: readCertificate('clientKeyPath', clientKeyPath) }),
  }
}

const readCertificate = (parameter: string, path: string): Buffer => {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new SignalboxError('parameter-invalid', `metrics-data-source: ${parameter} "${path}" cannot be read: ${(error as Error).message}`)
  }
}
