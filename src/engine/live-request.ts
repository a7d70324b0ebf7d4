import type { Denial } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Instant } from '../core/instant.ts'
import type { ScoredPair } from '../core/joint-choice.ts'
import type { EndCause, ProfileResults, Request, RequestShape, SchedulingResult, Usage } from '../core/request.ts'
import type { DeciderRun } from '../scheduling/receipt.ts'
import type { ProfileRun } from '../scheduling/run-profile.ts'
import type { RequestReceived } from '../wire/request.ts'
import type { Timer } from './timers.ts'

const NO_HEADERS: ReadonlyMap<string, string> = new Map()
const NO_SHAPE: RequestShape = { tokenized: false, prompts: [], problem: '' }
const NOTHING: readonly never[] = []

/** What exists only while a request is being scheduled. */
export class Scheduling {
  candidates: readonly Endpoint[] = NOTHING
  readonly results: ProfileResults = new Map()
  readonly errors: Map<string, Error> = new Map()
  /** Profiles picked and not yet run. */
  readonly queue: string[] = []
  readonly runs: ProfileRun[] = []
  /** Runs that a handler made for all stages together, by profile, until the machine enters them. */
  readonly ready: Map<string, ProfileRun> = new Map()
  pairs: readonly ScoredPair[] = NOTHING
  readonly deciders: DeciderRun[] = []
  readonly notes: string[] = []
  rounds = 0
}

/** One request in the engine: the actor of the request machine, and the request as plugins see it. */
export class LiveRequest implements Request {
  /** Written by the interpreter only. */
  state = 0
  readonly key: number
  readonly receivedAt: Instant
  readonly arrival: RequestReceived
  readonly received: ReadonlyMap<string, string>
  /** Resolved from the objective. */
  readonly priority: number
  headers: Map<string, string> = new Map()
  attributes: Map<string, unknown> = new Map()
  /** Dropped at the first byte: no other attempt can follow, so nothing needs it any more. */
  shape: RequestShape
  attempt = 1
  result: SchedulingResult | undefined = undefined
  scheduling: Scheduling | undefined = undefined
  excluded: readonly string[] = NOTHING
  awaiting: readonly string[] = NOTHING
  denial: Denial | undefined = undefined
  lastFailure: Denial | undefined = undefined
  started = false
  /** Whether it counts as in flight on the endpoints of its result, and with how many tokens; written by EngineLoad only. */
  holds = false
  promptTokens = 0
  /** Whether the hooks were told of the response's first step. */
  firstTold = false
  /** What ended it, for the last step of the response. */
  cause: EndCause = 'unspecified'
  usage: Usage | undefined = undefined
  status = 0
  /** At most one `after` of the request machine pends at a time. */
  timer: Timer | undefined = undefined

  constructor(key: number, receivedAt: Instant, arrival: RequestReceived, priority: number) {
    this.key = key
    this.receivedAt = receivedAt
    // A copy: the shape is dropped later, and the message belongs to whoever gave it. It is what a saved state holds.
    this.arrival = { ...arrival, priority }
    this.priority = priority
    this.received = arrival.headers.length === 0 ? NO_HEADERS : new Map(arrival.headers.map(({ name, value }) => [name, value]))
    this.shape = arrival.shape ?? NO_SHAPE
  }

  get id(): string {
    return this.arrival.requestId
  }

  get api(): string {
    return this.arrival.api
  }

  get model(): string {
    return this.arrival.model
  }

  get targetModel(): string {
    return this.arrival.targetModel
  }

  get objective(): string {
    return this.arrival.objective
  }

  get fairnessId(): string {
    return this.arrival.fairnessId
  }

  get streaming(): boolean {
    return this.arrival.streaming
  }

  get bodyBytes(): number {
    return this.arrival.bodyBytes
  }

  get maxOutputTokens(): number | undefined {
    return this.arrival.maxOutputTokens
  }

  /** Lets go of what only scheduling needs. */
  settle(): void {
    this.scheduling = undefined
    this.headers = SETTLED_HEADERS
    this.attributes = SETTLED_ATTRIBUTES
  }

  /** A shape that came later than the request: other attempts, also after a restart, go by it. */
  takeShape(shape: NonNullable<RequestReceived['shape']>): void {
    this.shape = shape
    this.arrival.shape = shape
  }

  /** Lets go of the prompt's shape. */
  forgetShape(): void {
    this.shape = NO_SHAPE
    this.arrival.shape = undefined
  }
}

// Shared by all requests that are past scheduling; nothing writes to them, since hooks that set headers run before.
const SETTLED_HEADERS: Map<string, string> = new Map()
const SETTLED_ATTRIBUTES: Map<string, unknown> = new Map()
