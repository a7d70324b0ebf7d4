import { UNMEASURED, type PodMetrics } from '../../../aibrix/index.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { MICROS_PER_S, type Instant } from '../../../core/instant.ts'
import { RateWindow, type SavedWindow } from './rate-window.ts'
import { CUSTOM_METRICS } from './scraped.ts'

/** A counter as it was read last. */
interface Reading {
  readonly value: number
  readonly at: Instant
}

/** A meter as plain data. */
export interface SavedMeter {
  readonly warm: boolean
  readonly own: SavedWindow
  readonly scraped: SavedWindow | null
  readonly tokens: readonly [value: number, at: number] | null
  readonly tokenRate: number | null
}

/** What is measured of one endpoint in one life. */
export class EndpointMeter {
  /** Whether a request was ever sent to it. */
  warm = false
  /** Our own completions; always there. */
  private own: RateWindow
  /** The engine's completions, once it told them. */
  private scraped: RateWindow | undefined = undefined
  private tokens: Reading | undefined = undefined
  private tokenRate: number | undefined = undefined

  constructor(now: Instant) {
    this.own = new RateWindow(now)
  }

  completed(now: Instant): void {
    this.own.rise(this.own.count + 1, now)
  }

  /** Takes the counters that came with a scrape. */
  heard({ custom }: Endpoint, now: Instant): void {
    const completed = custom.get(CUSTOM_METRICS.completed)
    if (completed !== undefined) {
      this.scraped ??= new RateWindow(now, completed)
      this.scraped.rise(completed, now)
    }
    const value = custom.get(CUSTOM_METRICS.generationTokens)
    if (value === undefined) return
    const before = this.tokens
    if (before !== undefined && now > before.at) {
      // A counter that fell began anew: what it shows is what came since.
      const more = value >= before.value ? value - before.value : value
      this.tokenRate = more / ((now - before.at) / MICROS_PER_S)
    }
    if (before === undefined || now > before.at) this.tokens = { value, at: now }
  }

  /** Everything that is known now; `running` are the requests sent to it and not ended, undefined while it is cold. */
  metrics(endpoint: Endpoint, running: number | undefined, now: Instant): PodMetrics {
    const { custom } = endpoint
    const count = custom.get(CUSTOM_METRICS.prefills)
    const sumSeconds = custom.get(CUSTOM_METRICS.prefillSeconds)
    const heard = endpoint.heardAt > 0
    return {
      ...UNMEASURED,
      runningRequests: running,
      generationThroughput: custom.get(CUSTOM_METRICS.throughput) ?? this.tokenRate,
      kvCacheUsage: heard ? endpoint.kvCacheUsage : undefined,
      drainRate1m: (this.scraped ?? this.own).rate(now),
      waitingRequests: heard ? endpoint.waitingQueueSize : undefined,
      prefillPreallocQueue: custom.get(CUSTOM_METRICS.prefillPrealloc),
      decodePreallocQueue: custom.get(CUSTOM_METRICS.decodePrealloc),
      queueDrainRate1m: this.queueRate(now),
      prefillTime: count === undefined || sumSeconds === undefined ? undefined : { count, sumSeconds },
    }
  }

  save(): SavedMeter {
    return {
      warm: this.warm,
      own: this.own.save(),
      scraped: this.scraped?.save() ?? null,
      tokens: this.tokens === undefined ? null : [this.tokens.value, this.tokens.at],
      tokenRate: this.tokenRate ?? null,
    }
  }

  static load(saved: SavedMeter): EndpointMeter {
    const meter = new EndpointMeter(0)
    meter.warm = saved.warm
    meter.own = RateWindow.load(saved.own)
    meter.scraped = saved.scraped === null ? undefined : RateWindow.load(saved.scraped)
    meter.tokens = saved.tokens === null ? undefined : { value: saved.tokens[0], at: saved.tokens[1] }
    meter.tokenRate = saved.tokenRate ?? undefined
    return meter
  }

  /** As AIBrix asks Prometheus for it: never below 0.01 a second. */
  private queueRate(now: Instant): number | undefined {
    const rate = (this.scraped ?? this.own).rate(now)
    return rate === undefined ? undefined : Math.max(QUEUE_RATE_FLOOR, rate)
  }
}

const QUEUE_RATE_FLOOR = 0.01
