import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { lastPositionOf } from '../../journal/batch.ts'
import type { JournalReader, SnapshotInfo, StoredBatch } from '../../journal/port.ts'
import type { SegmentInfo } from '../../journal/segment.ts'
import { BlobTable } from './blob-table.ts'
import { openForReading } from './connection.ts'
import { IndexSearch } from './index-table.ts'
import { readError } from './storage-error.ts'

/**
 * Batches fetched at once, after a first fetch of one that doubles: who wants one record reads one batch. Between
 * fetches the reader holds nothing, so the writer can go on tidying up.
 */
const BATCHES_PER_FETCH = 16

/** A batch with the time of its last record, in microseconds since the Unix epoch. */
export interface TimedBatch extends StoredBatch {
  readonly atUs: number
}

interface Opening {
  readonly basePosition: number
  readonly atUs: number
  readonly declaresMissing: boolean
  readonly blob: number
  readonly size: number
}

/** Where the batches stand up to a position. */
interface Tally {
  readonly lastPosition: number
  readonly atUs: number
  readonly number: number
  readonly total: number
}

/** Reads a journal in a SQLite file, also while another process writes it. */
export class SqliteJournalReader implements JournalReader {
  readonly path: string
  protected readonly database: DatabaseSync
  protected readonly blobs: BlobTable
  private readonly index: IndexSearch
  private readonly selectSegments: StatementSync
  private readonly selectTally: StatementSync
  private readonly selectBatches: StatementSync
  private readonly selectFirst: StatementSync
  private readonly selectSnapshots: StatementSync
  private readonly selectOldest: StatementSync

  /** Takes over the connection. */
  protected constructor(database: DatabaseSync, path: string) {
    this.path = path
    this.database = database
    this.blobs = new BlobTable(database)
    this.index = new IndexSearch(database)
    this.selectSegments = database.prepare('SELECT base_position, at_us, declares_missing, blob, size FROM segment ORDER BY base_position')
    this.selectTally = database.prepare(
      'SELECT first_position, count, at_us, number, total FROM batch WHERE first_position <= ? ORDER BY first_position DESC LIMIT 1',
    )
    this.selectBatches = database.prepare(
      'SELECT first_position, count, at_us, bytes FROM batch WHERE first_position >= ? ORDER BY first_position LIMIT ?',
    )
    this.selectFirst = database.prepare('SELECT max(first_position) AS position FROM batch WHERE first_position <= ?')
    this.selectOldest = database.prepare('SELECT number, total, length(bytes) AS size FROM batch ORDER BY first_position LIMIT 1')
    this.selectSnapshots = database.prepare('SELECT position, at_us, blob, size FROM snapshot ORDER BY position')
  }

  /** Opens the journal at a path. Throws `SignalboxError` when there is none, `JournalError` when it cannot be read. */
  static open(path: string): SqliteJournalReader {
    const database = openForReading(path)
    try {
      return new SqliteJournalReader(database, path)
    } catch (error) {
      database.close()
      throw readError(error, path, 0)
    }
  }

  lastPosition(): number {
    return this.reading(() => Math.max(this.index.lastPosition(), this.openings().at(-1)?.basePosition ?? 0))
  }

  segments(): readonly SegmentInfo[] {
    return this.reading(() => {
      const openings = this.openings()
      return openings.map((opening, index) => this.segment(opening, openings[index + 1]?.basePosition ?? Number.MAX_SAFE_INTEGER))
    })
  }

  base(position: number): Uint8Array | undefined {
    return this.reading(() => {
      const opening = this.openings().find(each => each.basePosition === position)
      return opening === undefined ? undefined : this.blobs.read(opening.blob, opening.size)
    })
  }

  *batches(after: number): Generator<TimedBatch, void, undefined> {
    let last = after
    let from = this.reading(() => numberOf(this.selectFirst.get(after + 1)?.['position'] ?? after + 1))
    for (let wanted = 1; ; wanted = Math.min(wanted * 2, BATCHES_PER_FETCH)) {
      const rows = this.reading(() => this.selectBatches.all(from, wanted), last)
      for (const row of rows) {
        const batch = {
          firstPosition: numberOf(row['first_position']),
          count: numberOf(row['count']),
          atUs: numberOf(row['at_us']),
          bytes: bytesOf(row['bytes']),
        }
        from = batch.firstPosition + 1
        if (lastPositionOf(batch) <= after) continue
        last = lastPositionOf(batch)
        yield batch
      }
      if (rows.length < wanted) return
    }
  }

  snapshots(): readonly SnapshotInfo[] {
    return this.reading(() => this.selectSnapshots.all().map(row => ({
      position: numberOf(row['position']), atUs: numberOf(row['at_us']), bytes: numberOf(row['size']),
    })))
  }

  snapshot(position: number): Uint8Array | undefined {
    return this.reading(() => {
      const row = this.selectSnapshots.all().find(each => each['position'] === position)
      return row === undefined ? undefined : this.blobs.read(numberOf(row['blob']), numberOf(row['size']))
    })
  }

  arrivalsOf(requestId: string): readonly number[] {
    return this.reading(() => this.index.arrivalsOf(requestId, (this.openings()[0]?.basePosition ?? 0) + 1))
  }

  recordsOf(request: number): readonly number[] {
    return this.reading(() => this.index.recordsOf(request))
  }

  close(): void {
    this.database.close()
  }

  protected openings(): Opening[] {
    return this.selectSegments.all().map(row => ({
      basePosition: numberOf(row['base_position']),
      atUs: numberOf(row['at_us']),
      declaresMissing: row['declares_missing'] === 1,
      blob: numberOf(row['blob']),
      size: numberOf(row['size']),
    }))
  }

  /** The last batch that begins at or before a position. */
  protected tally(position: number): Tally | undefined {
    const row = this.selectTally.get(position)
    if (row === undefined) return undefined
    return {
      lastPosition: numberOf(row['first_position']) + numberOf(row['count']) - 1,
      atUs: numberOf(row['at_us']),
      number: numberOf(row['number']),
      total: numberOf(row['total']),
    }
  }

  protected snapshotBlobs(): { position: number; blob: number }[] {
    return this.selectSnapshots.all().map(row => ({ position: numberOf(row['position']), blob: numberOf(row['blob']) }))
  }

  private segment(opening: Opening, nextBase: number): SegmentInfo {
    const { basePosition, atUs, declaresMissing, size } = opening
    const last = this.tally(nextBase)
    const before = this.tally(basePosition) ?? this.dropped()
    const own = last !== undefined && last.lastPosition > basePosition
    return {
      basePosition,
      atUs,
      declaresMissing,
      lastPosition: own ? last.lastPosition : basePosition,
      lastAtUs: own ? last.atUs : atUs,
      bytes: own ? last.total - before.total : 0,
      baseBytes: size,
      batches: own ? last.number - before.number : 0,
    }
  }

  /** How the batches stood before the oldest one that is left. */
  private dropped(): { readonly number: number; readonly total: number } {
    const oldest = this.selectOldest.get()
    if (oldest === undefined) return { number: 0, total: 0 }
    return { number: numberOf(oldest['number']) - 1, total: numberOf(oldest['total']) - numberOf(oldest['size']) }
  }

  /** Runs a read, and names what is wrong with the file when it fails. */
  protected reading<T>(read: () => T, position: number = 0): T {
    try {
      return read()
    } catch (error) {
      throw readError(error, this.path, position)
    }
  }
}

/** A number of a row; a damaged row may hold anything, which then fits nothing. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array(0)
}
