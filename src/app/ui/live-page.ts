import { openJournal } from '../../adapters/sqlite/open-journal.ts'
import type { AdminServer } from '../../adapters/http/admin.ts'
import type { SignalboxSettings } from '../../config/signalbox/settings.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { JournalReader } from '../../journal/index.ts'
import { mountPage } from './routes.ts'

/** Serves /ui of a running engine on its own journal; gives what closes it. Nothing is read before somebody asks. */
export const mountLivePage = (server: AdminServer, settings: SignalboxSettings): (() => void) => {
  let open: JournalReader | undefined = undefined
  if (settings.ui === 'off') return () => undefined
  const reader = (): JournalReader => {
    if (settings.journal === 'memory') throw new SignalboxError('journal-not-found', 'this engine keeps no journal: start it with --journal sqlite')
    open ??= openJournal(settings.journalPath)
    return open
  }
  mountPage(server, '/ui/', { name: `${settings.pool} ${settings.replica}`, live: true, reader }, settings.ui === 'loopback')
  return () => open?.close()
}
