/** Endpoints and kinds whose faults are remembered to have been told. */
const TOLD_MAX = 4096

/** Counts what is wrong with KV events, and passes on the first fault of each kind of each endpoint: a feed that is wrong is wrong a thousand times a second. */
export class KvFaults {
  /** By kind, in numbers that only rise. */
  readonly counts: Record<string, number> = {}
  private readonly told = new Set<string>()
  private readonly tell: (endpoint: string, fault: string, count: number) => void

  constructor(tell: (endpoint: string, fault: string, count: number) => void) {
    this.tell = tell
  }

  /** Counts without a word what comes of an order of things that is as good as any. */
  count(fault: string, count: number): void {
    this.counts[fault] = (this.counts[fault] ?? 0) + count
  }

  readonly take = (endpoint: string, fault: string, count: number): void => {
    this.count(fault, count)
    const kind = `${fault} ${endpoint}`
    if (this.told.has(kind) || this.told.size >= TOLD_MAX) return
    this.told.add(kind)
    this.tell(endpoint, fault, count)
  }
}
