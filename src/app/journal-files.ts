import { closeSync, existsSync, openSync, renameSync, rmSync, watch, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { SqliteJournalStore } from '../adapters/sqlite/journal-store.ts'
import { journalPath, openJournal } from '../adapters/sqlite/open-journal.ts'
import { SignalboxError } from '../core/errors.ts'
import { droppableSegments, fileParts, sliceOf, verify } from '../journal/index.ts'
import type { JournalReader, Keep, Verified } from '../journal/index.ts'
import { isInStream } from './journal-place.ts'

export { openJournal } from '../adapters/sqlite/open-journal.ts'
export { JournalError, kindOf, parseKeep, readRecords, statOf, verify } from '../journal/index.ts'
export type { JournalReader, JournalStat, Keep, SegmentInfo, Verified } from '../journal/index.ts'

/** A journal that nothing was said of for so long is looked at anyway: not every file system tells of changes, and no stream does. */
const LOOK_AGAIN_MS = 1000

export interface Exported extends Verified {
  readonly firstPosition: number
  readonly bytes: number
}

/**
 * Writes the records `from` to `to` into a file of their own, with the base before them, and checks what was written.
 * The file appears when it is whole. `progress` is told the bytes written. Throws as `sliceOf` and `verify` do.
 */
export function exportJournal(reader: JournalReader, file: string, from: number, to: number, progress: (bytes: number) => void): Exported {
  const slice = sliceOf(reader, from, to)
  const partial = `${file}.partial`
  try {
    const bytes = writeParts(partial, fileParts(reader, slice), progress)
    const written = openJournal(partial)
    try {
      const verified = toEnd(verify(written))
      renameSync(partial, file)
      return { ...verified, firstPosition: slice.basePosition + 1, bytes }
    } finally {
      written.close()
    }
  } catch (error) {
    rmSync(partial, { force: true })
    throw writingError(error, file)
  }
}

function writeParts(path: string, parts: Iterable<Uint8Array>, progress: (bytes: number) => void): number {
  const handle = openSync(path, 'w')
  let bytes = 0
  try {
    for (const part of parts) {
      for (let at = 0; at < part.length;) at += writeSync(handle, part, at)
      bytes += part.length
      progress(bytes)
    }
  } finally {
    closeSync(handle)
  }
  return bytes
}

function writingError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error
  return new SignalboxError('journal-write', `the file cannot be written: ${error.message}`, { file })
}

export interface Pruned {
  readonly segments: number
  readonly bytes: number
  /** Position of the oldest base that is left. */
  readonly basePosition: number
}

/** Drops the segments that need not be kept at `nowUs`, and gives their space back. No other process may write the journal. */
export function pruneJournal(path: string, keep: Keep, nowUs: number, progress: (segments: number, of: number) => void): Pruned {
  const file = journalPath(path)
  refuseToWrite(file)
  const store = SqliteJournalStore.own(file, 'async', nowUs)
  try {
    const before = store.segments()
    const dropped = droppableSegments(before, keep, nowUs)
    dropped.forEach((basePosition, index) => {
      store.dropOldestSegment(basePosition)
      progress(index + 1, dropped.length)
    })
    while (store.sweep());
    while (store.compact());
    const bytes = before.slice(0, dropped.length).reduce((sum, segment) => sum + segment.bytes + segment.baseBytes, 0)
    return { segments: dropped.length, bytes, basePosition: store.segments()[0]?.basePosition ?? 0 }
  } finally {
    store.close()
  }
}

/** Opening for writing makes a journal where there is none, which is not what pruning is for. */
function refuseToWrite(file: string): void {
  if (isInStream(file)) throw new SignalboxError('usage', 'a journal in JetStream is pruned by its engine: start that with --journal-keep')
  if (!existsSync(file)) throw new SignalboxError('journal-not-found', 'there is no journal', { file })
  if (isExported(file)) throw new SignalboxError('usage', `${file} is an exported file: export less of it instead`)
}

/** Whether a path names an exported file, which nobody writes any more. */
export function isExported(path: string): boolean {
  if (isInStream(path)) return false
  const reader = openJournal(path)
  reader.close()
  return !('path' in reader)
}

/** Runs a generator to its end, telling what it yields. */
export function toEnd<T, R>(run: Generator<T, R, undefined>, progress: (value: T) => void = () => undefined): R {
  for (;;) {
    const step = run.next()
    if (step.done === true) return step.value
    progress(step.value)
  }
}

/** Yields each time the journal at a path may have grown, until the signal. */
export async function* changes(path: string, signal: AbortSignal): AsyncGenerator<undefined, void, undefined> {
  let wake = (): void => undefined
  const watcher = isInStream(path) ? undefined : watch(dirname(journalPath(path)), () => wake())
  const abort = (): void => wake()
  signal.addEventListener('abort', abort)
  try {
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, LOOK_AGAIN_MS)
      wake = resolve
      yield undefined
      await promise
      clearTimeout(timer)
    }
  } finally {
    watcher?.close()
    signal.removeEventListener('abort', abort)
  }
}
