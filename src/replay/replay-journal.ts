import type { EngineOptions } from '../engine/context.ts'
import { Chain } from '../journal/chain.ts'
import type { JournalReader } from '../journal/port.ts'
import { itemsAfter, startingPoint } from '../journal/reading.ts'
import { Replayer } from './replayer.ts'
import type { Divergence } from './divergence.ts'

/** What a replay came to. */
export interface Replayed {
  readonly from: number
  readonly to: number
  readonly records: number
  readonly decisions: number
  /** Bases whose state was compared with the state reached. */
  readonly basesCompared: number
  readonly divergence: Divergence | undefined
}

export interface ReplayRange {
  /** Begin at the newest base at or before this position; the oldest base without it. */
  readonly from?: number | undefined
  /** Stop after this position. */
  readonly until?: number | undefined
  /** Stop at the base at this position, when the state reached was compared with it. */
  readonly through?: number | undefined
}

/** Records between two reports of progress. */
const PROGRESS_EVERY = 4096

/**
 * Re-decides every record from a base on and stops at the first divergence. Yields the position now and then.
 * @throws JournalError where the journal is not whole; the records before it were replayed
 */
export function* replayJournal(options: EngineOptions, reader: JournalReader, range: ReplayRange = {}): Generator<number, Replayed, undefined> {
  const opening = startingPoint(reader, range.from ?? reader.segments()[0]?.basePosition ?? 0, 'ignore')
  const until = range.until ?? Infinity
  const chain = new Chain()
  const base = reader.base(opening.position)
  if (base !== undefined) chain.base(base)
  let replayer = new Replayer(options, opening)
  const count = { records: 0, decisions: 0, basesCompared: 0 }
  const result = (divergence: Divergence | undefined): Replayed => ({ from: opening.position, to: replayer.position, ...count, divergence })
  for (const item of itemsAfter(reader, opening.position, 'all')) {
    if (item.kind === 'base') {
      const next = chain.base(item.bytes)
      if (next.missing !== undefined) replayer = new Replayer(options, next)
      else if (next.position === replayer.position) {
        count.basesCompared += 1
        const divergence = replayer.compareState(next)
        if (divergence !== undefined) return result(divergence)
      }
      if (item.position === range.through) return result(undefined)
      continue
    }
    for (const record of chain.records(item.bytes)) {
      const divergence = replayer.apply(record)
      count.records += 1
      count.decisions += record.decisions.length
      if (divergence !== undefined || record.position >= until) return result(divergence)
      if (count.records % PROGRESS_EVERY === 0) yield record.position
    }
  }
  return result(undefined)
}
