import { SignalboxError } from '../core/errors.ts'
import type { Place } from '../core/errors.ts'

export type JournalFault = 'journal-torn' | 'journal-broken-chain' | 'journal-gap' | 'journal-newer-schema'

/** A journal that is not whole. Everything up to and with `position` is good and can be used; 0 when nothing is. */
export class JournalError extends SignalboxError {
  readonly position: number
  readonly fault: JournalFault

  constructor(fault: JournalFault, message: string, position: number, place?: Place) {
    super(fault, `${message}; the journal is good up to position ${position}`, place)
    this.fault = fault
    this.position = position
  }
}
