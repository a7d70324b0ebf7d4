import { joinHostPort } from './address.ts'
import type { Instant } from './instant.ts'

/** What an engine reports of itself. Counts are whole in practice but kept as reported. */
export interface Metrics {
  waitingQueueSize: number
  runningRequestsSize: number
  /** A fraction from 0 to 1. */
  kvCacheUsage: number
  /** Tokens a block; 0 when not reported. */
  cacheBlockSize: number
  cacheNumBlocks: number
  maxActiveModels: number
  activeModels: ReadonlyMap<string, number>
  waitingModels: ReadonlyMap<string, number>
  /** Scalars that a configured extractor publishes under names of its own. */
  custom: ReadonlyMap<string, number>
}

/** What is announced of an endpoint. */
export interface EndpointDescription {
  /** "namespace/name". */
  readonly id: string
  readonly address: string
  readonly port: number
  readonly labels: ReadonlyMap<string, string>
  readonly annotations: ReadonlyMap<string, string>
  readonly incarnation: string
  /** host:port of the metrics; the endpoint's own when empty. */
  readonly metricsHostPort: string
}

const NONE: ReadonlyMap<string, number> = new Map()

/**
 * One address that serves requests, in one life.
 *
 * A class with plain fields: the engine's inner loops read these, and one hidden class for all endpoints is what keeps
 * a scorer at about 10 ns a candidate. Plugins read it; only the engine writes it.
 */
export class Endpoint implements Metrics {
  readonly id: string
  /** Dense number while it lives; a later endpoint may get it again. Columns are indexed by it. */
  readonly slot: number
  /** Number of this life among all lives the engine has seen; never used twice. */
  readonly life: number
  address: string
  port: number
  /** address:port, an IPv6 address in brackets. */
  hostPort: string
  labels: ReadonlyMap<string, string>
  annotations: ReadonlyMap<string, string>
  incarnation: string
  metricsHostPort: string
  waitingQueueSize = 0
  runningRequestsSize = 0
  kvCacheUsage = 0
  cacheBlockSize = 0
  cacheNumBlocks = 0
  maxActiveModels = 0
  activeModels: ReadonlyMap<string, number> = NONE
  waitingModels: ReadonlyMap<string, number> = NONE
  custom: ReadonlyMap<string, number> = NONE
  /** When its metrics were last heard; 0 never. */
  heardAt: Instant = 0

  constructor(description: EndpointDescription, slot: number, life: number) {
    this.id = description.id
    this.slot = slot
    this.life = life
    this.address = description.address
    this.port = description.port
    this.hostPort = joinHostPort(description.address, description.port)
    this.labels = description.labels
    this.annotations = description.annotations
    this.incarnation = description.incarnation
    this.metricsHostPort = description.metricsHostPort
  }
}
