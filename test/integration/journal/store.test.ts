import { openForWriting } from '../../../src/adapters/sqlite/connection.ts'
import { SqliteJournalReader } from '../../../src/adapters/sqlite/journal-reader.ts'
import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { MemoryJournal } from '../../../src/journal/index.ts'
import { storeContract } from './store-contract.ts'
import type { Backend } from './store-contract.ts'
import { temporaryFolder } from './temporary-folder.ts'

storeContract('memory', (): Backend => {
  const store = new MemoryJournal()
  return { open: () => store, openReader: () => store, clean: () => store.close() }
})

storeContract('sqlite', () => sqliteBackend())

// Whatever order rows come in where none was asked for, the journal must be the same.
storeContract('sqlite with unordered rows reversed', () => sqliteBackend((path, durability) => {
  const database = openForWriting(path, durability)
  database.exec('PRAGMA reverse_unordered_selects = ON')
  return database
}))

function sqliteBackend(connect: typeof openForWriting = openForWriting): Backend {
  const folder = temporaryFolder()
  let store: SqliteJournalStore | undefined
  return {
    open: () => (store ??= SqliteJournalStore.own(folder.file, 'async', 0, connect)),
    openReader: () => SqliteJournalReader.open(folder.file),
    clean: () => {
      store?.close()
      folder.remove()
    },
  }
}
