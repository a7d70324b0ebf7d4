import type { Base, Batch, Record } from '../wire/index.ts'
import { lastPositionOf, openBatch } from './batch.ts'
import { JournalError } from './journal-error.ts'
import type { JournalFault } from './journal-error.ts'
import { recordsOf } from './record.ts'
import { SCHEMA_VERSION } from './schema-version.ts'
import { chainAfter, openBase } from './state-message.ts'

/**
 * Follows the chain of a journal: takes its bases and batches in order and says where it is broken.
 * Every method throws `JournalError`, whose position is the last good one; afterwards the chain stands there still.
 */
export class Chain {
  private last: number
  private lastAtUs: number = 0
  /** Undefined before the first item: the chain begins wherever that one does. */
  private expected: bigint | undefined

  /** A chain that begins at a base, or at the batch after `position`: what came before it is taken on trust. */
  constructor(position: number = 0) {
    this.last = position
  }

  /** A chain that begins at the batch that the bytes hold, which should hold `position`. */
  static at(bytes: Uint8Array, position: number): Chain {
    const batch = openBatch(bytes)
    return new Chain(batch === undefined ? position - 1 : batch.firstPosition - 1)
  }

  /** Last good position. */
  get position(): number {
    return this.last
  }

  /** Time of the last record read, in microseconds since the Unix epoch; 0 before the first. */
  get atUs(): number {
    return this.lastAtUs
  }

  /** Takes the base that opens a segment. */
  base(bytes: Uint8Array): Base {
    const base = openBase(bytes)
    if (base === undefined) throw this.fault('journal-broken-chain', `the base after position ${this.last} was changed or cut`)
    if (base.schemaVersion > SCHEMA_VERSION) {
      throw this.fault('journal-newer-schema', `the base at ${base.position} is of schema ${base.schemaVersion}, this is ${SCHEMA_VERSION}`)
    }
    if (this.expected === undefined) this.begin(base)
    else this.join(base, this.expected)
    return base
  }

  /** Takes the next batch. Its records are checked as `records` reads them. */
  batch(bytes: Uint8Array): Batch {
    const due = this.last + 1
    const batch = openBatch(bytes)
    if (batch === undefined) throw this.fault('journal-broken-chain', `the batch at position ${due} was changed or cut`)
    if (batch.firstPosition > due) {
      throw this.fault('journal-gap', `positions ${due} to ${batch.firstPosition - 1} are missing`)
    }
    if (batch.firstPosition < due || batch.count === 0) {
      throw this.fault('journal-broken-chain', `a batch of ${batch.count} from ${batch.firstPosition} stands where ${due} is due`)
    }
    if (this.expected !== undefined && batch.previousHash !== this.expected) {
      throw this.fault('journal-broken-chain', `the batch at position ${due} does not follow the one before it`)
    }
    this.expected = batch.seal
    this.last = lastPositionOf(batch)
    return batch
  }

  /** Takes the next batch and gives its records, those before `from` left out, one by one; the good position moves with each. */
  *records(bytes: Uint8Array, from: number = 0): Generator<Record, void, undefined> {
    const batch = this.batch(bytes)
    this.last = batch.firstPosition - 1
    for (const record of recordsOf(batch, this.lastAtUs, from)) {
      this.last = record.position
      this.lastAtUs = record.atUs
      yield record
    }
  }

  /** Says that the bytes end in the middle of an item. */
  torn(what: string): JournalError {
    return this.fault('journal-torn', `the journal ends in the middle of ${what} after position ${this.last}`)
  }

  private begin(base: Base): void {
    this.last = base.position
    this.lastAtUs = base.atUs
    this.expected = chainAfter(base)
  }

  private join(base: Base, expected: bigint): void {
    const { missing } = base
    if (base.previousHash !== expected) {
      throw this.fault('journal-broken-chain', `the base at ${base.position} does not follow the batch before it`)
    }
    if (missing === undefined) {
      if (base.position > this.last) throw this.fault('journal-gap', `positions ${this.last + 1} to ${base.position} are missing`)
      if (base.position < this.last) {
        throw this.fault('journal-broken-chain', `a base at ${base.position} stands after position ${this.last}`)
      }
      return
    }
    if (missing.first !== this.last + 1 || missing.last !== base.position || missing.last < missing.first) {
      throw this.fault('journal-gap', `the base at ${base.position} declares ${missing.first} to ${missing.last} missing, but ${this.last + 1} is due`)
    }
    this.begin(base)
  }

  private fault(fault: JournalFault, message: string): JournalError {
    return new JournalError(fault, message, this.last)
  }
}
