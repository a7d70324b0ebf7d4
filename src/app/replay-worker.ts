import { parentPort, workerData } from 'node:worker_threads'
import { importPluginTypes } from '../config/read.ts'
import type { EngineOptions } from '../engine/context.ts'
import type { JournalReader } from '../journal/port.ts'
import { engineOptions, finish, replayJournal } from '../replay/index.ts'
import { openJournalAt } from './journal-place.ts'
import { RECEIPT_BYTES } from './replay-protocol.ts'
import type { FromReplayer, ReplayJob, ToReplayer } from './replay-protocol.ts'

/** Replays parts of a journal, one after the other, as they are asked for. */
const replayPart = (options: EngineOptions, reader: JournalReader, { index, part }: ToReplayer): void => {
  try {
    let told = 0
    const tell = (records: number): void => {
      post({ type: 'progress', records: records - told })
      told = records
    }
    const result = finish(replayJournal(options, reader, part), (position) => tell(position - (part.from ?? 0)))
    tell(result.records)
    post({ type: 'replayed', index, result })
  } catch {
    // Whoever asked does it again and meets the error himself, with all that belongs to it.
    post({ type: 'failed', index })
  }
}

const post = (message: FromReplayer): void => parentPort?.postMessage(message)

const { place, access, interpreter, plugins } = workerData as ReplayJob
const options = engineOptions(await importPluginTypes(plugins), { interpreter, receiptBytes: RECEIPT_BYTES })
const reader = openJournalAt(place, access)
parentPort?.on('message', (asked: ToReplayer) => replayPart(options, reader, asked))
