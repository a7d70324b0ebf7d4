import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { lastPositionOf } from '../../journal/batch.ts'
import type { SealedBatch } from '../../journal/batch.ts'
import { notDroppable } from '../../journal/memory.ts'
import type { Durability, JournalStore } from '../../journal/port.ts'
import type { SealedState } from '../../journal/state-message.ts'
import { closeWritten, openForWriting } from './connection.ts'
import { IndexWriter } from './index-table.ts'
import { numberOf, SqliteJournalReader } from './journal-reader.ts'
import { Ownership } from './ownership.ts'
import { writeError } from './storage-error.ts'
import { CHUNKS_PER_BLOB } from './tables.ts'

/** Rows deleted in one step of `sweep`: a few ms. */
const SWEEP_ROWS = 32
/** A write of this size must succeed before a journal that was full is written again. */
const PROBE_BYTES = 1_048_576
/** Pages given back to the file system in one step of `compact`. */
const COMPACT_PAGES = 2048

/** A base or a snapshot on its way into the file, piece by piece. */
export interface PendingState {
  readonly blob: number
  readonly state: SealedState
  readonly as: { readonly kind: 'snapshot' } | { readonly kind: 'base'; readonly declaresMissing: boolean }
  part: number
}

/** Reads and writes a journal in a SQLite file; one process at a time. */
export class SqliteJournalStore extends SqliteJournalReader implements JournalStore {
  private readonly ownership: Ownership
  private readonly indexing: IndexWriter
  private readonly insertBatch: StatementSync
  private readonly insertSegment: StatementSync
  private readonly insertSnapshot: StatementSync
  private number: number
  private total: number
  private blobsGiven: number
  /** Blobs that nothing refers to any more. */
  private loose: number[]
  /** Whether there may be something to sweep. */
  private untidy = true
  private inTransaction = false

  private constructor(database: DatabaseSync, path: string, ownership: Ownership, nowUs: number) {
    super(database, path)
    this.ownership = ownership
    this.indexing = new IndexWriter(database)
    this.insertBatch = database.prepare('INSERT INTO batch (first_position, count, at_us, number, total, bytes) VALUES (?, ?, ?, ?, ?, ?)')
    this.insertSegment = database.prepare('INSERT OR IGNORE INTO segment (base_position, at_us, declares_missing, blob, size) VALUES (?, ?, ?, ?, ?)')
    this.insertSnapshot = database.prepare('INSERT OR REPLACE INTO snapshot (position, at_us, blob, size) VALUES (?, ?, ?, ?)')
    const last = this.tally(Number.MAX_SAFE_INTEGER)
    this.number = last?.number ?? 0
    this.total = last?.total ?? 0
    this.blobsGiven = this.blobs.nextBlob()
    this.loose = this.looseBlobs()
    database.prepare('INSERT OR REPLACE INTO owner (id, pid, since_us) VALUES (1, ?, ?)').run(process.pid, nowUs)
  }

  /**
   * Opens a journal for writing, and makes it when it is not there (then without a segment: open one first).
   * Throws `SignalboxError` ('journal-locked') when another process writes it. `connect` opens the file once it is owned.
   */
  static own(
    path: string, durability: Durability, nowUs: number, connect: (path: string, durability: Durability) => DatabaseSync = openForWriting,
  ): SqliteJournalStore {
    const database = { opened: undefined as DatabaseSync | undefined }
    const ownership = Ownership.take(path)
    try {
      database.opened = connect(path, durability)
      return new SqliteJournalStore(database.opened, path, ownership, nowUs)
    } catch (error) {
      database.opened?.close()
      ownership.release()
      throw writeError(error, path)
    }
  }

  /** Runs writes as one transaction: all or nothing. Throws `SignalboxError` ('journal-write'). */
  transaction(write: () => void): void {
    if (this.inTransaction) {
      write()
      return
    }
    const { number, total } = this
    this.inTransaction = true
    this.indexing.begin()
    try {
      this.database.exec('BEGIN IMMEDIATE')
      write()
      this.database.exec('COMMIT')
    } catch (error) {
      this.number = number
      this.total = total
      this.indexing.rollback()
      this.rollback()
      throw writeError(error, this.path)
    } finally {
      this.inTransaction = false
    }
  }

  append(batches: readonly SealedBatch[]): void {
    this.transaction(() => {
      for (const batch of batches) {
        const { firstPosition, count, atUs, bytes, index } = batch
        this.number += 1
        this.total += bytes.length
        this.insertBatch.run(firstPosition, count, atUs, this.number, this.total, bytes)
        this.indexing.add(firstPosition, lastPositionOf(batch), index)
      }
    })
  }

  openSegment(base: SealedState, declaresMissing: boolean = false): void {
    this.putState(base, { kind: 'base', declaresMissing })
  }

  putSnapshot(snapshot: SealedState): void {
    this.putState(snapshot, { kind: 'snapshot' })
  }

  /** Begins to write a state; `writePart` goes on. */
  beginState(state: SealedState, as: PendingState['as']): PendingState {
    return { blob: this.blobsGiven++, state, as, part: 0 }
  }

  /** Writes the next piece, and after the last one the row that makes the state visible; false when it is done. */
  writePart(pending: PendingState): boolean {
    const { blob, state, as } = pending
    const replaced = as.kind === 'base' ? [] : this.snapshotBlobs().filter(each => each.position === state.position)
    let more = false
    this.transaction(() => {
      more = this.blobs.writePart(blob, state.bytes, pending.part)
      if (more) return
      if (as.kind === 'base') {
        this.insertSegment.run(state.position, state.atUs, as.declaresMissing ? 1 : 0, blob, state.bytes.length)
        return
      }
      this.insertSnapshot.run(state.position, state.atUs, blob, state.bytes.length)
    })
    pending.part += 1
    if (!more) this.discard(...replaced.map(each => each.blob))
    return more
  }

  /** Forgets a state that was begun and is not wanted any more. */
  abandonState(pending: PendingState): void {
    this.discard(pending.blob)
  }

  /** Tries whether the file can grow. Throws `SignalboxError` ('journal-write') when it cannot. */
  probe(): void {
    const blob = this.blobsGiven++
    this.discard(blob)
    this.transaction(() => this.blobs.write(blob, new Uint8Array(PROBE_BYTES)))
  }

  dropSnapshot(position: number): void {
    const blobs = this.snapshotBlobs().filter(each => each.position === position).map(each => each.blob)
    this.transaction(() => this.database.prepare('DELETE FROM snapshot WHERE position = ?').run(position))
    this.discard(...blobs)
  }

  dropOldestSegment(basePosition: number): void {
    this.releaseOldestSegment(basePosition)
    while (this.sweep());
  }

  /** Takes the oldest segment out of sight; `sweep` then deletes what it held, step by step. */
  releaseOldestSegment(basePosition: number): void {
    const [oldest, next] = this.openings()
    if (oldest?.basePosition !== basePosition || next === undefined) throw notDroppable(basePosition)
    const snapshots = this.snapshotBlobs().filter(each => each.position < next.basePosition)
    this.transaction(() => {
      this.database.prepare('DELETE FROM segment WHERE base_position = ?').run(basePosition)
      this.database.prepare('DELETE FROM snapshot WHERE position < ?').run(next.basePosition)
    })
    this.discard(oldest.blob, ...snapshots.map(each => each.blob))
  }

  /** Deletes some of what no segment holds any more; false when nothing was left. */
  sweep(): boolean {
    if (!this.untidy) return false
    const kept = this.openings()[0]?.basePosition ?? 0
    const [blob] = this.loose
    let swept = false
    if (blob !== undefined) {
      let more = true
      this.transaction(() => {
        more = this.blobs.drop(blob, SWEEP_ROWS)
      })
      if (!more) this.loose.shift()
      return true
    }
    this.transaction(() => {
      for (const [table, end] of [['batch', 'first_position'], ['request_index', 'last_position']] as const) {
        const rows = `SELECT first_position FROM ${table} WHERE ${end} <= ? ORDER BY first_position LIMIT ${SWEEP_ROWS}`
        const deleted = this.database.prepare(`DELETE FROM ${table} WHERE first_position IN (${rows})`).run(kept)
        swept ||= Number(deleted.changes) > 0
      }
    })
    this.untidy = swept
    return swept
  }

  /** Gives free pages back to the file system; false when there were none. */
  compact(): boolean {
    const free = (): number => numberOf(this.database.prepare('PRAGMA freelist_count').get()?.['freelist_count'])
    const before = free()
    if (before === 0) return false
    this.transaction(() => this.database.prepare(`PRAGMA incremental_vacuum(${COMPACT_PAGES})`).all())
    return free() < before
  }

  override close(): void {
    closeWritten(this.database)
    this.ownership.release()
  }

  private putState(state: SealedState, as: PendingState['as']): void {
    const pending = this.beginState(state, as)
    this.transaction(() => {
      while (this.writePart(pending));
    })
  }

  private looseBlobs(): number[] {
    const used = new Set([...this.openings(), ...this.snapshotBlobs()].map(each => each.blob))
    const rows = this.database.prepare(`SELECT DISTINCT id / ${CHUNKS_PER_BLOB} AS blob FROM chunk ORDER BY blob`).all()
    return rows.map(row => numberOf(row['blob'])).filter(blob => !used.has(blob))
  }

  private discard(...blobs: readonly number[]): void {
    this.loose.push(...blobs)
    this.untidy = true
  }

  private rollback(): void {
    try {
      this.database.exec('ROLLBACK')
    } catch {
      // SQLite rolled back by itself already, or never began.
    }
  }
}
