import { isDeepStrictEqual } from 'node:util'
import { interval } from 'rxjs'
import type { SchedulerLike, Subscription } from 'rxjs'
import type { EndpointInfo } from '../../wire/endpoint.ts'
import type { Input } from '../../wire/input.ts'
import type { EndpointAnnouncement } from '../../wire/nats.ts'

/** How often it is looked for heartbeats that are overdue: a dead agent's endpoint goes at most this much late. */
const LOOK_MS = 500

export interface MembershipOptions {
  submit(input: Input): void
  /** Without a heartbeat for so long an endpoint is gone. */
  readonly timeoutMs: number
  readonly clock: SchedulerLike
  /** Endpoints that an engine knows from its journal: they must be announced within the timeout. */
  readonly known: readonly { readonly id: string; readonly incarnation: string }[]
}

interface Member {
  readonly incarnation: string
  /** Undefined for an endpoint that is known from the journal and was not announced yet. */
  info: EndpointInfo | undefined
  draining: boolean
  heartbeat: number
  heardMs: number
}

/**
 * The fleet as announcements tell it. Whether an endpoint lives is judged by this process's own timer on heartbeats that
 * count up, never by clocks of agents or by the age of stored values, so clocks may differ by any amount.
 */
export class Membership {
  private readonly options: MembershipOptions
  private readonly members = new Map<string, Member>()
  /** Heartbeats of endpoints that went silent: the same heartbeat, read again from the bucket, is no sign of life. */
  private readonly silent = new Map<string, { readonly incarnation: string; readonly heartbeat: number }>()
  private readonly timer: Subscription
  private paused = false

  constructor(options: MembershipOptions) {
    this.options = options
    const heardMs = options.clock.now()
    for (const { id, incarnation } of options.known) this.members.set(id, { incarnation, info: undefined, draining: false, heartbeat: -1, heardMs })
    this.timer = interval(LOOK_MS, options.clock).subscribe(() => this.look())
  }

  /** Whether the endpoint is announced here. */
  has(id: string): boolean {
    return this.members.has(id)
  }

  announced({ endpoint, presence, heartbeat }: EndpointAnnouncement): void {
    if (endpoint === undefined || presence === 'unspecified') return
    const { id, incarnation } = endpoint
    const silent = this.silent.get(id)
    if (silent?.incarnation === incarnation && heartbeat <= silent.heartbeat) return
    this.silent.delete(id)
    const known = this.members.get(id)
    // Written before what was heard last: a copy that came late.
    if (known?.incarnation === incarnation && heartbeat < known.heartbeat) return
    const member: Member = known?.incarnation === incarnation ? known : { incarnation, info: undefined, draining: false, heartbeat: -1, heardMs: 0 }
    if (heartbeat > member.heartbeat) member.heardMs = this.options.clock.now()
    member.heartbeat = heartbeat
    this.members.set(id, member)
    this.tell(member, endpoint, presence === 'draining', known !== undefined)
  }

  /** Its announcer took it back. */
  withdrawn(id: string): void {
    const member = this.members.get(id)
    if (member === undefined) return
    this.forget(id, member, 'announced')
  }

  /** Nothing can be heard: nobody is judged. */
  pause(): void {
    this.paused = true
  }

  /** It can be heard again; everybody has the whole timeout for the next heartbeat. */
  resume(): void {
    this.paused = false
    const now = this.options.clock.now()
    for (const member of this.members.values()) member.heardMs = now
  }

  close(): void {
    this.timer.unsubscribe()
  }

  private tell(member: Member, endpoint: EndpointInfo, draining: boolean, wasKnown: boolean): void {
    const same = member.info !== undefined && isDeepStrictEqual(member.info, endpoint)
    if (!same || (member.draining && !draining)) {
      this.options.submit({ input: { kind: wasKnown && member.info !== undefined ? 'endpointUpdated' : 'endpointJoined', value: { endpoint } } })
      member.info = endpoint
      member.draining = false
    }
    if (draining && !member.draining) {
      member.draining = true
      this.options.submit({ input: { kind: 'endpointDraining', value: { endpoint: endpoint.id, reason: 'announced' } } })
    }
  }

  private look(): void {
    if (this.paused) return
    const due = this.options.clock.now() - this.options.timeoutMs
    for (const [id, member] of this.members) if (member.heardMs <= due) this.forget(id, member, 'no heartbeat')
  }

  private forget(id: string, member: Member, reason: string): void {
    this.members.delete(id)
    this.silent.set(id, { incarnation: member.incarnation, heartbeat: member.heartbeat })
    if (this.silent.size > SILENT_MAX) this.silent.delete(this.silent.keys().next().value as string)
    this.options.submit({ input: { kind: 'endpointLeft', value: { endpoint: id, incarnation: member.incarnation, reason } } })
  }
}

/** Endpoints remembered that went; the oldest are forgotten. */
const SILENT_MAX = 16_384
