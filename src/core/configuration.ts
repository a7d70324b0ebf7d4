/**
 * A completed configuration: defaults and injections resolved, environment read, secrets removed. It is what the engine
 * is built from and what the journal holds, so a replay needs no file. JSON all through.
 */
export interface CompletedConfiguration {
  readonly featureGates: Readonly<Record<string, boolean>>
  /** In the order in which they are made. */
  readonly plugins: readonly ConfiguredPlugin[]
  readonly profiles: readonly ConfiguredProfile[]
  readonly dataLayer: {
    readonly sources: readonly { readonly source: string; readonly extractors: readonly string[] }[]
    /** Name of the discovery plugin; undefined where endpoints come another way. */
    readonly discovery?: string
  }
  /** Names of the parsers, in order of registration. */
  readonly parsers: readonly string[]
  readonly saturationDetector: string
  /** Names of all producers, each after those whose data it requires. */
  readonly producers: readonly string[]
  readonly profileHandler: string
  readonly flowControl: unknown
  readonly engine: EngineSettings
}

export interface ConfiguredPlugin {
  readonly name: string
  readonly type: string
  /** As given; absent means the plugin's defaults. */
  readonly parameters?: unknown
  /** True where nobody wrote it: injection added it. */
  readonly injected?: boolean
}

export interface ConfiguredProfile {
  readonly name: string
  readonly filters: readonly string[]
  readonly scorers: readonly { readonly plugin: string; readonly weight: number }[]
  readonly picker: string
}

/** The part of SignalboxConfig that decisions depend on. Times in milliseconds. */
export interface EngineSettings {
  readonly pool: string
  readonly objectives: readonly { readonly name: string; readonly priority: number }[]
  readonly timeouts: {
    readonly producerMs: number
    readonly sentMs: number
    readonly firstTokenMs: number
    readonly silenceMs: number
  }
  readonly retry: {
    /** Attempts at most, the first included. */
    readonly attempts: number
  }
  readonly unreachable: {
    /** Failed attempts or 5xx in a row that take an endpoint out. */
    readonly strikes: number
    readonly firstBackoffMs: number
    readonly lastBackoffMs: number
  }
  /** Age of metrics from which an endpoint counts as stale. */
  readonly staleAfterMs: number
  /** In-flight requests from which an endpoint counts as saturated in its machine; no effect on decisions. */
  readonly saturatedRequests: number
}

export const DEFAULT_ENGINE_SETTINGS: EngineSettings = {
  pool: 'epp',
  objectives: [],
  timeouts: { producerMs: 400, sentMs: 30_000, firstTokenMs: 600_000, silenceMs: 300_000 },
  retry: { attempts: 3 },
  unreachable: { strikes: 3, firstBackoffMs: 1000, lastBackoffMs: 30_000 },
  staleAfterMs: 2000,
  saturatedRequests: 100,
}
