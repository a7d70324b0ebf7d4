import { BATCH_BYTES_MAX, BATCH_RECORDS_MAX, sealBatch } from '../../journal/batch.ts'
import type { SealedBatch } from '../../journal/batch.ts'
import type { RecordsChunk } from './writer-protocol.ts'

/** Bytes written in one transaction: what waits meanwhile waits for some tens of ms at most. */
const TRANSACTION_BYTES_MAX = 16_777_216

/** Records that are not in the journal yet. */
export class RecordQueue {
  private chunks: RecordsChunk[] = []
  private held = 0

  get bytes(): number {
    return this.held
  }

  get records(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.count, 0)
  }

  get isEmpty(): boolean {
    return this.chunks.length === 0
  }

  get firstPosition(): number | undefined {
    return this.chunks[0]?.firstPosition
  }

  push(chunk: RecordsChunk): void {
    this.chunks.push(chunk)
    this.held += chunk.records.length
  }

  /** The chunks that one transaction should write. */
  next(): readonly RecordsChunk[] {
    let bytes = 0
    let count = 0
    for (const chunk of this.chunks) {
      bytes += chunk.records.length
      if (count > 0 && bytes > TRANSACTION_BYTES_MAX) break
      count += 1
    }
    return this.chunks.slice(0, count)
  }

  /** Takes the first chunks out. */
  shift(chunks: readonly RecordsChunk[]): void {
    this.chunks = this.chunks.slice(chunks.length)
    for (const chunk of chunks) this.held -= chunk.records.length
  }

  above(position: number): readonly RecordsChunk[] {
    return this.chunks.filter(chunk => chunk.firstPosition > position)
  }

  /** Drops everything. */
  clear(): void {
    this.chunks = []
    this.held = 0
  }
}

/** Seals chunks as batches, the first of which follows the one with the seal `previous`. */
export function batchesOf(chunks: readonly RecordsChunk[], previous: bigint): SealedBatch[] {
  const batches: SealedBatch[] = []
  let group: RecordsChunk[] = []
  let bytes = 0
  let count = 0
  let seal = previous
  const close = (): void => {
    const [first] = group
    if (first === undefined) return
    const run = { firstPosition: first.firstPosition, count, records: joined(group.map(chunk => chunk.records)) }
    const batch = sealBatch(run, seal, group.at(-1)?.atUs ?? 0, joined(group.map(chunk => chunk.index)))
    batches.push(batch)
    seal = batch.seal
    group = []
    bytes = count = 0
  }
  for (const chunk of chunks) {
    if (bytes + chunk.records.length > BATCH_BYTES_MAX || count + chunk.count > BATCH_RECORDS_MAX) close()
    group.push(chunk)
    bytes += chunk.records.length
    count += chunk.count
  }
  close()
  return batches
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}
