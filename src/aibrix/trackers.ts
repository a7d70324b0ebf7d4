/**
 * Requests by pod as a fold over identified assignments: a request counts on the pod that it was last assigned to, until
 * it is removed. An id that is added again moves, so nothing can leak, and a count below 0 cannot be expressed.
 */
class AssignmentCounts<Id> {
  private readonly pods = new Map<Id, string>()
  private readonly counts = new Map<string, number>()

  add(id: Id, pod: string): void {
    this.remove(id)
    this.pods.set(id, pod)
    this.counts.set(pod, this.count(pod) + 1)
  }

  /** Whether there was something to remove. */
  remove(id: Id): boolean {
    const pod = this.pods.get(id)
    if (pod === undefined) return false
    this.pods.delete(id)
    const left = this.count(pod) - 1
    if (left === 0) this.counts.delete(pod)
    else this.counts.set(pod, left)
    return true
  }

  count(pod: string): number {
    return this.counts.get(pod) ?? 0
  }

  podOf(id: Id): string | undefined {
    return this.pods.get(id)
  }

  entries(): readonly (readonly [id: Id, pod: string])[] {
    return [...this.pods]
  }
}

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
