import { Worker } from 'node:worker_threads'
import { importPluginTypes } from '../config/read.ts'
import type { JournalReader } from '../journal/port.ts'
import { engineOptions, finish, joinReplayed, replayJournal, replayParts } from '../replay/index.ts'
import type { Replayed, ReplayRange } from '../replay/index.ts'
import { RECEIPT_BYTES } from './replay-protocol.ts'
import type { FromReplayer, ReplayJob } from './replay-protocol.ts'

export interface ReplayInThreads extends ReplayJob {
  /** Parts of the journal that are replayed at once, at most. */
  readonly threads: number
  /** Records that make a part, at least; as `replayParts` has it when absent. */
  readonly partRecords?: number
  /** Told how many records are decided. */
  progress(records: number): void
}

/**
 * Replays a journal in as many threads as it has parts, up to so many, and comes to the same as one replay from its
 * beginning: the first divergence, or the first damage. `reader` is of the same journal.
 * @throws as `replayJournal`
 */
export const replayInThreads = async (job: ReplayInThreads, reader: JournalReader, range: ReplayRange): Promise<Replayed> => {
  const parts = replayParts(reader.segments(), range, job.partRecords)
  const results = parts.length > 1 && job.threads > 1 ? await new Threads(job, parts).run() : []
  const options = engineOptions(await importPluginTypes(job.plugins), { interpreter: job.interpreter, receiptBytes: RECEIPT_BYTES })
  let records = results.reduce((sum, result) => sum + result.records, 0)
  // What the threads left: all of it where there are none, else from a part that failed on.
  for (const part of parts.slice(results.length)) {
    if (results.at(-1)?.divergence !== undefined) break
    const before = records
    const result = finish(replayJournal(options, reader, part), (position) => job.progress(before + position - (part.from ?? 0)))
    records += result.records
    results.push(result)
  }
  return joinReplayed(results)
}

/** Threads that take the parts of a journal in order. */
class Threads {
  private readonly job: ReplayInThreads
  private readonly parts: readonly ReplayRange[]
  private readonly results: Replayed[] = []
  private readonly working = new Map<Worker, number>()
  private readonly done = Promise.withResolvers<void>()
  private next = 0
  /** Parts that count: those up to the first that diverged or failed. */
  private count: number
  private records = 0

  constructor(job: ReplayInThreads, parts: readonly ReplayRange[]) {
    this.job = job
    this.parts = parts
    this.count = parts.length
  }

  /** What the parts came to, in order, up to the first that diverged; without those from the first that failed on. */
  async run(): Promise<Replayed[]> {
    const { place, access, interpreter, plugins, threads } = this.job
    const workerData: ReplayJob = { place, access, interpreter, plugins }
    const workers = Array.from({ length: Math.min(threads, this.parts.length) }, () => new Worker(new URL('./replay-worker.ts', import.meta.url), { workerData }))
    for (const worker of workers) {
      worker.on('message', (message: FromReplayer) => this.hear(worker, message))
      worker.on('error', () => this.failed(this.working.get(worker) ?? 0))
      // A plugin may end its thread without an error.
      worker.on('exit', () => this.failed(this.working.get(worker) ?? this.count))
      this.ask(worker)
    }
    await this.done.promise
    await Promise.all(workers.map((worker) => worker.terminate()))
    const failed = this.results.findIndex((result) => result === undefined)
    return this.results.slice(0, failed < 0 ? this.count : failed)
  }

  private hear(worker: Worker, message: FromReplayer): void {
    switch (message.type) {
      case 'progress':
        this.records += message.records
        this.job.progress(this.records)
        return
      case 'replayed':
        this.results[message.index] = message.result
        this.working.delete(worker)
        if (message.result.divergence !== undefined) this.count = Math.min(this.count, message.index + 1)
        this.ask(worker)
        return
      case 'failed':
        this.failed(message.index)
    }
  }

  private failed(index: number): void {
    this.count = Math.min(this.count, index)
    this.endWhenDone()
  }

  private ask(worker: Worker): void {
    const part = this.parts[this.next]
    if (part !== undefined && this.next < this.count) {
      this.working.set(worker, this.next)
      worker.postMessage({ index: this.next, part })
      this.next += 1
    }
    this.endWhenDone()
  }

  private endWhenDone(): void {
    for (const index of this.working.values()) if (index < this.count) return
    if (this.next >= this.count) this.done.resolve()
  }
}
