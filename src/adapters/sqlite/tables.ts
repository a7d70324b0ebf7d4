/** "SBXJ": marks a SQLite file as a journal. */
export const APPLICATION_ID = 0x53_42_58_4a

/**
 * Tables of a journal.
 * `batch.number` and `batch.total` run over the whole life of the journal, so that a segment's counts are differences.
 * Large states lie in `chunk`, in pieces: piece `part` of blob `blob` is row `blob * 65536 + part`.
 * `request_index_recent` has a row a batch; once it covers enough records its rows become one row of `request_index`.
 */
export const TABLES = `
CREATE TABLE owner (id INTEGER PRIMARY KEY CHECK (id = 1), pid INTEGER NOT NULL, since_us INTEGER NOT NULL);
CREATE TABLE segment (
  base_position INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, declares_missing INTEGER NOT NULL,
  blob INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE TABLE snapshot (position INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, blob INTEGER NOT NULL, size INTEGER NOT NULL);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE batch (
  first_position INTEGER PRIMARY KEY, count INTEGER NOT NULL, at_us INTEGER NOT NULL,
  number INTEGER NOT NULL, total INTEGER NOT NULL, bytes BLOB NOT NULL
);
CREATE TABLE request_index (first_position INTEGER PRIMARY KEY, last_position INTEGER NOT NULL, sections BLOB NOT NULL);
CREATE TABLE request_index_recent (first_position INTEGER PRIMARY KEY, last_position INTEGER NOT NULL, sections BLOB NOT NULL);
`

/** Rows of one state are as large as this, so that writing a large one never holds a commit up for long. */
export const CHUNK_BYTES = 262_144
export const CHUNKS_PER_BLOB = 65_536
