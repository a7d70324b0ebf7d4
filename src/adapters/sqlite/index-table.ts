import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { arrivalsIn, recordsIn, requestIdMark } from '../../journal/request-index.ts'

/** Recent rows become one row when they cover so many records: a search of 10,000,000 records reads 2,442 rows. */
const MERGED_RECORDS = 4096

/** Writes the request index: a small row with each batch, merged into large ones. */
export class IndexWriter {
  private readonly insert: StatementSync
  private readonly insertMerged: StatementSync
  private readonly clear: StatementSync
  private readonly recent: StatementSync
  private pending: Uint8Array[]
  private first: number
  private readonly undo: { pending: Uint8Array[]; length: number; first: number } = { pending: [], length: 0, first: 0 }

  constructor(database: DatabaseSync) {
    this.insert = database.prepare('INSERT INTO request_index_recent (first_position, last_position, sections) VALUES (?, ?, ?)')
    this.insertMerged = database.prepare('INSERT INTO request_index (first_position, last_position, sections) VALUES (?, ?, ?)')
    this.clear = database.prepare('DELETE FROM request_index_recent')
    this.recent = database.prepare('SELECT first_position, sections FROM request_index_recent ORDER BY first_position')
    const rows = this.recent.all()
    this.pending = rows.flatMap(row => (row['sections'] instanceof Uint8Array ? [row['sections']] : []))
    this.first = Number(rows[0]?.['first_position'] ?? 0)
  }

  /** Remembers where it stands, for `rollback`. */
  begin(): void {
    this.undo.pending = this.pending
    this.undo.length = this.pending.length
    this.undo.first = this.first
  }

  rollback(): void {
    this.pending = this.undo.pending
    this.pending.length = this.undo.length
    this.first = this.undo.first
  }

  add(firstPosition: number, lastPosition: number, sections: Uint8Array): void {
    if (this.pending.length === 0) this.first = firstPosition
    this.pending.push(sections)
    if (lastPosition - this.first + 1 < MERGED_RECORDS) {
      this.insert.run(firstPosition, lastPosition, sections)
      return
    }
    this.clear.run()
    this.insertMerged.run(this.first, lastPosition, Buffer.concat(this.pending))
    this.pending = []
  }
}

/** Searches the request index. */
export class IndexSearch {
  private readonly from: StatementSync
  private readonly last: StatementSync

  constructor(database: DatabaseSync) {
    this.from = database.prepare(`
      SELECT sections, first_position FROM request_index WHERE last_position >= :from
      UNION ALL SELECT sections, first_position FROM request_index_recent WHERE last_position >= :from
      ORDER BY first_position
    `)
    this.last = database.prepare(`
      SELECT max(coalesce((SELECT last_position FROM request_index ORDER BY first_position DESC LIMIT 1), 0),
        coalesce((SELECT last_position FROM request_index_recent ORDER BY first_position DESC LIMIT 1), 0)) AS position
    `)
  }

  /** Position of the last record indexed; 0 when there is none. */
  lastPosition(): number {
    return Number(this.last.get()?.['position'] ?? 0)
  }

  arrivalsOf(requestId: string, from: number): number[] {
    // Most rows do not hold the id, which the runtime's own search finds out at memory speed.
    const mark = Buffer.from(requestIdMark(requestId))
    const find = (sections: Uint8Array): number[] =>
      Buffer.from(sections.buffer, sections.byteOffset, sections.length).includes(mark) ? arrivalsIn(sections, requestId) : []
    return this.search(from, find).filter(position => position >= from)
  }

  recordsOf(request: number): number[] {
    return this.search(request, sections => recordsIn(sections, request))
  }

  private search(from: number, find: (sections: Uint8Array) => number[]): number[] {
    const found: number[] = []
    for (const row of this.from.iterate({ from })) {
      const sections = row['sections']
      if (sections instanceof Uint8Array) found.push(...find(sections))
    }
    return found
  }
}
