/**
 * Requests by pod as a fold over identified assignments: a request counts on the pod that it was last assigned to, until
 * it is removed. An id that is added again moves, so nothing can leak, and a count below 0 cannot be expressed.
 */
export class AssignmentCounts<Id> {
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
