import type { EndpointMachineEvent } from '../../machines/endpoint/machine.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Instant } from '../core/instant.ts'
import type { Timer } from './timers.ts'

export type EndpointEvent = EndpointMachineEvent

/** One endpoint in the engine: the actor of the endpoint machine. */
export class EndpointActor {
  /** Written by the interpreter only. */
  state = 0
  readonly endpoint: Endpoint
  joinedAt: Instant = 0
  /** Failed attempts in a row. */
  strikes = 0
  /** Times taken out since an attempt last succeeded. */
  backoffs = 0
  /** Presence is `ready`. */
  ready = false
  unreachable = false
  fresh = false
  /** What was last told of the load; a crossing is sent only when it changes. */
  load: 'idle' | 'busy' | 'saturated' = 'idle'
  timer: Timer | undefined = undefined

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint
  }
}
