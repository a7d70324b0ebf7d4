import { AssignmentCounts } from './assignment-counts.ts'

/**
 * Requests whose pair was chosen and whose decode leg was not sent yet, by decode pod.
 * Ids are anything that tells requests apart. (AIBrix: PendingDecodeTracker)
 */
export class PendingDecodeTracker<Id = string> {
  private readonly assigned = new AssignmentCounts<Id>()

  addPendingDecode(id: Id, pod: string): void {
    this.assigned.add(id, pod)
  }

  removePendingDecode(id: Id): boolean {
    return this.assigned.remove(id)
  }

  getPendingDecodeCount(pod: string): number {
    return this.assigned.count(pod)
  }

  /** Who is pending where, in order of assignment. */
  entries(): readonly (readonly [id: Id, pod: string])[] {
    return this.assigned.entries()
  }
}

/** Requests whose prefill was begun and has not ended, by prefill pod. (AIBrix: PrefillRequestTracker) */
export class PrefillRequestTracker<Id = string> {
  private readonly assigned = new AssignmentCounts<Id>()

  addPrefillRequest(id: Id, pod: string): void {
    this.assigned.add(id, pod)
  }

  removePrefillRequest(id: Id): boolean {
    return this.assigned.remove(id)
  }

  getPrefillRequestCountForPod(pod: string): number {
    return this.assigned.count(pod)
  }

  getPrefillRequestCountsForPods(pods: readonly { readonly id: string }[]): Map<string, number> {
    return new Map(pods.map(({ id }) => [id, this.assigned.count(id)]))
  }

  podOf(id: Id): string | undefined {
    return this.assigned.podOf(id)
  }

  entries(): readonly (readonly [id: Id, pod: string])[] {
    return this.assigned.entries()
  }
}

/** Pending decodes of a pod; 0 where there is no tracker at all. */
export const pendingDecodesOn = (tracker: PendingDecodeTracker<never> | undefined, pod: string): number => tracker?.getPendingDecodeCount(pod) ?? 0

/** Prefills on a pod; 0 where there is no tracker at all. */
export const prefillsOn = (tracker: PrefillRequestTracker<never> | undefined, pod: string): number => tracker?.getPrefillRequestCountForPod(pod) ?? 0
