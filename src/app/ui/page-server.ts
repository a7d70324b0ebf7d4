import { AdminServer } from '../../adapters/http/admin.ts'
import type { ListenAddress } from '../../adapters/http/listening.ts'
import type { JournalReader } from '../../journal/index.ts'
import { mountPage } from './routes.ts'

/** A page on a journal that nobody needs to be writing. */
export interface PageServer {
  readonly address: ListenAddress
  close(): Promise<void>
}

/** Serves the page of one journal. Throws SignalboxError port-in-use. */
export const servePage = async (listen: ListenAddress, name: string, reader: JournalReader, live: boolean): Promise<PageServer> => {
  const healthy = (): { ok: boolean; reasons: readonly string[] } => ({ ok: true, reasons: [] })
  const server = new AdminServer({
    listen, healthy, ready: healthy,
    metrics: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
    pluginStates: () => [], endpoints: () => [], drain: () => 'unknown-endpoint', now: () => 0,
  })
  mountPage(server, '/', { name, live, reader: () => reader }, true)
  return { address: await server.listen(), close: () => server.close() }
}
