import { interval } from 'rxjs'
import type { SchedulerLike, Subscription } from 'rxjs'
import type { Input, PeerLoadReported } from '../../wire/input.ts'
import type { ReplicaAnnouncement } from '../../wire/nats.ts'

/** A replica without a heartbeat for so long is gone, and its load with it. */
const LEASE_MS = 10_000
const LOOK_MS = 500

export interface PeersOptions {
  /** This replica: what it told itself is not taken. */
  readonly replica: string
  readonly clock: SchedulerLike
  /** Replicas whose load the engine holds from its journal. */
  readonly known: readonly string[]
  submit(input: Input): void
  /** A replica lives whose open set is not known: the stream should be read anew. */
  resync(): void
}

interface Peer {
  runId: string
  /** Of the last report taken. */
  sequence: number
  /** Whether the engine holds its load: from an open set on, until its lease ends. */
  isOpen: boolean
  /** Whether a report was missed: what is held stays until that one or an open set comes. */
  behind: boolean
  heartbeat: number
  heardMs: number
}

/**
 * What peer replicas have in flight, as inputs of the engine: from an open set on, in sequence, each report once; released
 * when the replica's lease ends. Time is this process's own.
 */
export class Peers {
  private readonly options: PeersOptions
  private readonly peers = new Map<string, Peer>()
  private readonly timer: Subscription
  /** Reports not taken, in numbers that only rise. */
  readonly counts = { repeated: 0, unopened: 0, gaps: 0 }

  constructor(options: PeersOptions) {
    this.options = options
    const heardMs = options.clock.now()
    for (const replica of options.known) this.peers.set(replica, { runId: '', sequence: -1, isOpen: true, behind: false, heartbeat: -1, heardMs })
    this.timer = interval(LOOK_MS, options.clock).subscribe(() => this.look())
  }

  /** Replicas whose load is held. */
  get open(): readonly string[] {
    return [...this.peers].filter(([, { isOpen }]) => isOpen).map(([replica]) => replica)
  }

  /** Sequence of the last report taken of a run, while its load is held. */
  taken(replica: string, runId: string): number | undefined {
    const peer = this.peers.get(replica)
    return peer?.isOpen === true && peer.runId === runId && peer.sequence >= 0 ? peer.sequence : undefined
  }

  reported(report: PeerLoadReported): void {
    const { replica, runId, sequence, opens } = report
    if (replica === this.options.replica) return
    const peer = this.peer(replica)
    if (opens ? peer.isOpen && peer.runId === runId && sequence <= peer.sequence : !this.follows(peer, report)) {
      if (opens) this.counts.repeated += 1
      return
    }
    if (!peer.isOpen && peer.heardMs === 0) peer.heardMs = this.options.clock.now()
    peer.isOpen = true
    peer.behind = false
    peer.runId = runId
    peer.sequence = sequence
    this.options.submit({ input: { kind: 'peerLoadReported', value: report } })
  }

  announced({ replica, runId, heartbeat }: ReplicaAnnouncement): void {
    if (replica === this.options.replica) return
    const peer = this.peer(replica)
    const isNew = peer.runId !== runId || heartbeat > peer.heartbeat
    if (!isNew) return
    const wasHeard = peer.heartbeat >= 0 || peer.runId !== ''
    peer.heardMs = this.options.clock.now()
    peer.heartbeat = heartbeat
    if (!peer.isOpen && wasHeard) this.options.resync()
  }

  /** It left with grace: its load is over. */
  withdrawn(replica: string): void {
    const peer = this.peers.get(replica)
    if (peer === undefined) return
    this.end(replica, peer)
    this.peers.delete(replica)
  }

  close(): void {
    this.timer.unsubscribe()
  }

  private follows(peer: Peer, { runId, sequence }: PeerLoadReported): boolean {
    if (!peer.isOpen || peer.runId !== runId) {
      this.counts.unopened += 1
      return false
    }
    if (sequence <= peer.sequence) {
      this.counts.repeated += 1
      return false
    }
    if (sequence === peer.sequence + 1) return true
    if (!peer.behind) {
      // Something between was not delivered: it is read again from there, or the next open set replaces all.
      this.counts.gaps += 1
      peer.behind = true
      this.options.resync()
    }
    return false
  }

  private peer(replica: string): Peer {
    let peer = this.peers.get(replica)
    if (peer === undefined) {
      peer = { runId: '', sequence: -1, isOpen: false, behind: false, heartbeat: -1, heardMs: this.options.clock.now() }
      this.peers.set(replica, peer)
    }
    return peer
  }

  private look(): void {
    const due = this.options.clock.now() - LEASE_MS
    for (const [replica, peer] of this.peers) if (peer.heardMs <= due) this.end(replica, peer)
  }

  private end(replica: string, peer: Peer): void {
    if (!peer.isOpen && peer.sequence < 0) return
    peer.isOpen = false
    peer.behind = false
    peer.sequence = -1
    this.options.submit({ input: { kind: 'replicaLeaseEnded', value: { replica, runId: peer.runId } } })
  }
}
