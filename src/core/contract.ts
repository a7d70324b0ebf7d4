import type { DataKey, Reader, Writer } from './attribute.ts'
import type { Endpoint } from './endpoint.ts'
import type { Instant } from './instant.ts'
import type { JointChoice } from './joint-choice.ts'
import type { PeerLoadReport } from './peer-load.ts'
import type { RandomStream } from './random.ts'
import type { WantedKeys } from './shape.ts'
import type { ProfileResults, Request, ResponseStep, SchedulingResult, Stage, Usage } from './request.ts'

export type { PeerAssignment, PeerHolding, PeerLoadReport } from './peer-load.ts'
export type { PluginContext, PluginKind, PluginType } from './plugin-type.ts'

/** A plugin's type and its name; a plugin publishes data under its name. */
export interface TypedName {
  readonly type: string
  readonly name: string
}

/**
 * What every plugin is. Which roles it has is told by the methods it bears; one plugin may bear several.
 * A plugin holds no clock and no chance of its own: time comes with the call and chance through `Services`.
 */
export interface Plugin {
  readonly typedName: TypedName
  consumes?(): Consumption
  produces?(): readonly DataKey<unknown>[]
  /** Called once, before anything else: the plugin takes the readers and writers of the keys that it declared. */
  setup?(services: Services): void
  /** State that must survive a restart, in a form of its own; equal states give equal bytes. */
  save?(): Uint8Array
  load?(state: Uint8Array, endpoints: readonly Endpoint[]): void
  /** A view for people, as JSON. */
  dump?(): unknown
  /**
   * Request headers that it reads, in lower case; front doors let these through. "cookie:name" stands for the one cookie
   * of that name, which then is received under this very name.
   */
  receives?(): readonly string[]
}

export interface Consumption {
  readonly required: readonly DataKey<unknown>[]
  readonly optional?: readonly DataKey<unknown>[]
}

/** What a plugin may ask of the engine. Asking for a key it did not declare throws. */
export interface Services {
  reader<T>(key: DataKey<T>): Reader<T>
  writer<T>(key: DataKey<T>): Writer<T>
  /** The stream of chance of this plugin for the run in hand; each number drawn goes into the receipt. */
  die(): RandomStream
  /** Time of the turn. */
  now(): Instant
  /** Endpoints that are ready or draining, by id. */
  endpoints(): readonly Endpoint[]
  /** Counts an observation for the outside (metrics); has no effect on decisions. */
  observe(observation: Observation): void
}

/**
 * A measurement that a plugin makes, labels in a fixed order. `name` stands without the prefix `llm_d_epp_`; a name that
 * has another prefix is whole and begins with `llm_d_` or `inference_`. A counter adds `value`, a gauge becomes `value`.
 */
export interface Observation {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Says whether a request may come in at all, before anything is computed for it; undefined admits. */
export interface AdmissionController extends Plugin { admission(request: Request, candidates: readonly Endpoint[]): Denial | undefined }
/** May deny a request when its data is there; undefined admits. */
export interface Admitter extends Plugin { admit(request: Request, candidates: readonly Endpoint[]): Denial | undefined }
/** Narrows the candidates once per request, for all profiles. */
export interface Screener extends Plugin { screen(request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] }
/** Writes attributes for the request. A producer whose answer comes from outside names it in `awaits`. */
export interface Producer extends Plugin {
  produce(request: Request, candidates: readonly Endpoint[]): void
  awaits?(request: Request): boolean
  /** How long a request waits for that answer, in milliseconds; the engine's own setting where that is longer. */
  readonly answersWithinMs?: number | undefined
  /** The block keys it needs of each prompt; front doors compute them before the request comes in. */
  wants?(candidates: readonly Endpoint[]): readonly WantedKeys[]
}
/** Removes candidates; keeps their order. The same array always holds the same endpoints as they were: what came of it may be remembered. */
export interface Filter extends Plugin { filter(request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] }
/** Rates each candidate in [0, 1]: `out[i]` is for `candidates[i]`; what it leaves untouched counts 0. */
export interface Scorer extends Plugin {
  readonly category: 'affinity' | 'distribution' | 'balance'
  score(request: Request, candidates: readonly Endpoint[], out: Float64Array): void
}
/** The survivors and their totals, in order of id. `totals` may be longer than the survivors. */
export interface Ranked { readonly endpoints: readonly Endpoint[]; readonly totals: Float64Array }
/** Chooses, best first; ties are broken by the die. */
export interface Picker extends Plugin { pick(request: Request, ranked: Ranked, die: RandomStream): readonly Endpoint[] }
/** Says whether a stage runs for a request; the endpoint is the one chosen for decode, where there is one. */
export interface Decider extends Plugin {
  runs(request: Request, endpoint: Endpoint | undefined): boolean
  /** The reason in words, for receipts: "4096 tokens, 3840 cached, 256 left < 512". Asked right after `runs`. */
  explain?(request: Request, endpoint: Endpoint | undefined): string
}
/** Chooses which profiles run next and joins their results; [] ends the loop. May set results to null. */
export interface ProfileHandler extends Plugin {
  pick(request: Request, profiles: readonly string[], results: ProfileResults): readonly string[]
  stageOf(profile: string): Stage
  /**
   * Picks for all stages together, once, before any of them is entered: the profiles that it names find their results
   * ready. `offered` gives the candidates that a profile's filters leave. Throws as `pick` does.
   */
  choose?(request: Request, offered: (profile: string) => readonly Endpoint[]): JointChoice
  processResults(request: Request, results: ProfileResults): SchedulingResult
  /** As a producer's `wants`. */
  wants?(candidates: readonly Endpoint[]): readonly WantedKeys[]
  /** decode-only, prefill-decode, encode-decode or encode-prefill-decode; '' where it has no such notion. */
  decisionType?(result: SchedulingResult): string
}
/** Says how saturated a set of endpoints is: 1 is full, more is possible. */
export interface Detector extends Plugin { saturation(endpoints: readonly Endpoint[], now: Instant): number }
/** Last step before the request leaves; may set headers on it. */
export interface PreRequest extends Plugin { preRequest(request: Request, result: SchedulingResult): void }
/** Sees the first and the last step of each response, also a forced last one. */
export interface ResponseBody extends Plugin { responseBody(request: Request, step: ResponseStep): void }
/** Sets headers on the response to the client, known once the request is scheduled. */
export interface ResponseHeader extends Plugin { responseHeaders(request: Request, result: SchedulingResult): ReadonlyMap<string, string> }
/** Tells the proxy something of a response that has ended, from its usage. */
export interface Reporter extends Plugin { report(request: Request, usage: Usage | undefined): Report | undefined }
export interface Report { readonly namespace: string; readonly name: string; readonly value: number }
/** Learns that the data plane took a routed request, and that one of its stages is over before its response is. */
export interface StageEvents extends Plugin {
  requestSent(request: Request): void
  stageEnded(request: Request, stage: Stage): void
}
/** Learns that an endpoint told its metrics, once they are in its fields. */
export interface MetricsEvents extends Plugin { metricsHeard(endpoint: Endpoint): void }
/** Learns of endpoints as they come and go. */
export interface EndpointEvents extends Plugin {
  endpointAdded(endpoint: Endpoint): void
  endpointRemoved(endpoint: Endpoint): void
}

/**
 * Learns which blocks an endpoint's engine put into its cache and took out. Keys are 8 bytes each, little-endian, in the
 * order of the prompt; the tier is where the blocks lie, such as "gpu".
 */
export interface KvEvents extends Plugin {
  kvBlocksStored(endpoint: Endpoint, keys: Uint8Array, tier: string, blockTokens: number): void
  kvBlocksRemoved(endpoint: Endpoint, keys: Uint8Array, tier: string): void
  kvBlocksCleared(endpoint: Endpoint): void
}

/** Learns what peer replicas have in flight, and which blocks they put into their endpoints' caches. */
export interface PeerLoads extends Plugin {
  peerLoad(report: PeerLoadReport): void
  peerGone(replica: string): void
}

/** Why a request is not served. `status` is the HTTP status, `reason` the value of x-llm-d-request-dropped-reason. */
export interface Denial {
  readonly status: number
  readonly code: string
  readonly reason: string
  readonly message: string
  /** Headers of the answer besides; names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}
