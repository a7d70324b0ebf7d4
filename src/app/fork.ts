import type { CompletedConfiguration } from '../core/configuration.ts'
import type { EngineOptions } from '../engine/context.ts'
import { readRecords, startingPoint } from '../journal/index.ts'
import type { JournalReader } from '../journal/index.ts'
import { fork } from '../replay/index.ts'
import type { ForkedDecision, ForkSummary, ReplayRange } from '../replay/index.ts'

/** Forks a stored journal: from the base at or before `from`, up to `until`. Nothing of it is kept in memory. */
export const forkOf = (options: EngineOptions, reader: JournalReader, configuration: CompletedConfiguration, range: ReplayRange, wantsReceipts?: () => boolean): Generator<ForkedDecision | number, ForkSummary, undefined> => {
  const start = startingPoint(reader, range.from ?? reader.segments()[0]?.basePosition ?? 0, 'ignore')
  return fork(options, start, readRecords(reader, start.position + 1, range.until), configuration, wantsReceipts)
}
