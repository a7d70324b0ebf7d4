import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { CHUNK_BYTES, CHUNKS_PER_BLOB } from './tables.ts'

/** Large states in pieces, in the table `chunk`. */
export class BlobTable {
  private readonly insert: StatementSync
  private readonly select: StatementSync
  private readonly remove: StatementSync
  private readonly newest: StatementSync

  constructor(database: DatabaseSync) {
    this.insert = database.prepare('INSERT OR REPLACE INTO chunk (id, bytes) VALUES (?, ?)')
    this.select = database.prepare('SELECT bytes FROM chunk WHERE id >= ? AND id < ? ORDER BY id')
    this.remove = database.prepare(
      'DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE id >= ? AND id < ? ORDER BY id LIMIT ?)',
    )
    this.newest = database.prepare('SELECT max(id) AS id FROM chunk')
  }

  /** A number for a new blob. */
  nextBlob(): number {
    const newest = this.newest.get()?.['id']
    return typeof newest === 'number' ? Math.floor(newest / CHUNKS_PER_BLOB) + 1 : 1
  }

  /** Writes piece `part` of the bytes; false when there is no such piece, since all are written. */
  writePart(blob: number, bytes: Uint8Array, part: number): boolean {
    const from = part * CHUNK_BYTES
    if (from >= bytes.length) return false
    this.insert.run(blob * CHUNKS_PER_BLOB + part, bytes.subarray(from, from + CHUNK_BYTES))
    return true
  }

  write(blob: number, bytes: Uint8Array): void {
    for (let part = 0; this.writePart(blob, bytes, part); part++);
  }

  read(blob: number, size: number): Uint8Array {
    const bytes = new Uint8Array(size)
    let at = 0
    for (const row of this.select.all(blob * CHUNKS_PER_BLOB, (blob + 1) * CHUNKS_PER_BLOB)) {
      const piece = row['bytes']
      if (!(piece instanceof Uint8Array) || at + piece.length > size) break
      bytes.set(piece, at)
      at += piece.length
    }
    return bytes.subarray(0, at)
  }

  /** Deletes at most `rows` pieces; false when none was left. */
  drop(blob: number, rows: number): boolean {
    return Number(this.remove.run(blob * CHUNKS_PER_BLOB, (blob + 1) * CHUNKS_PER_BLOB, rows).changes) > 0
  }
}
