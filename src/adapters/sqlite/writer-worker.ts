import { parentPort, workerData } from 'node:worker_threads'
import { SignalboxError } from '../../core/errors.ts'
import { JournalWriting } from './journal-writing.ts'
import { SqliteJournalStore } from './journal-store.ts'
import type { FromWriter, ToWriter, WriterWorkerData } from './writer-protocol.ts'

export type { WriterWorkerData } from './writer-protocol.ts'

const MICROS_PER_MS = 1000

function post(message: FromWriter): void {
  parentPort?.postMessage(message)
  if (message.type === 'closed') parentPort?.close()
}

function start(): void {
  const data = workerData as WriterWorkerData
  const store = SqliteJournalStore.own(data.options.path, data.options.durability, Date.now() * MICROS_PER_MS)
  const writing = new JournalWriting(store, data, post)
  parentPort?.on('message', (message: ToWriter) => {
    switch (message.type) {
      case 'records':
        writing.receive(message.chunk)
        return
      case 'follower-gone':
        writing.dropFollower()
        return
      case 'close':
        writing.close()
    }
  })
}

try {
  start()
} catch (error) {
  const code = error instanceof SignalboxError ? error.code : 'journal-write'
  post({ type: 'refused', code, message: error instanceof Error ? error.message : String(error) })
}
