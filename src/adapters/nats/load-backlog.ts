import type { PeerLoadReported } from '../../wire/index.ts'

/** The last report that was taken of a replica's run; undefined where its load is not held. */
export type Taken = (replica: string, runId: string) => number | undefined

/**
 * What the stream holds of all replicas, as far as it is needed: what follows the last report that was taken, where that
 * is still there, so that nothing of it is missed; else what begins with the newest open set.
 */
export class LoadBacklog {
  private readonly taken: Taken
  private readonly byReplica = new Map<string, { reports: PeerLoadReported[]; follows: boolean }>()

  constructor(taken: Taken) {
    this.taken = taken
  }

  add(report: PeerLoadReported): void {
    const { replica, runId, sequence, opens } = report
    const follows = this.taken(replica, runId) === sequence - 1
    const known = this.byReplica.get(replica)
    if (follows || (opens && known?.follows !== true)) this.byReplica.set(replica, { reports: [report], follows })
    else known?.reports.push(report)
  }

  /** Each replica's reports in order. */
  reports(): readonly PeerLoadReported[] {
    return [...this.byReplica.values()].flatMap(({ reports }) => reports)
  }
}
