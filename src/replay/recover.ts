import type { EngineOptions } from '../engine/context.ts'
import type { JournalReader } from '../journal/port.ts'
import { readRecords, startingPoint } from '../journal/reading.ts'
import { Replayer } from './replayer.ts'

/**
 * Brings an engine to a position: the newest usable state at or before it, then the records after.
 * Yields the position now and then; returns the replayer, which stands there.
 */
export function* recover(options: EngineOptions, reader: JournalReader, position: number = Infinity): Generator<number, Replayer, undefined> {
  const from = startingPoint(reader, position)
  const replayer = new Replayer(options, from)
  if (from.position >= Math.min(position, reader.lastPosition())) return replayer
  for (const record of readRecords(reader, from.position + 1, position)) {
    replayer.apply(record)
    if (record.position % PROGRESS_EVERY === 0) yield record.position
  }
  return replayer
}

const PROGRESS_EVERY = 4096

/** Runs a generator to its end, telling of what it yields. */
export const finish = <Y, R>(work: Generator<Y, R, undefined>, onProgress?: (at: Y) => void): R => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    onProgress?.(step.value)
  }
}
