import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'

/** A server of HTTP or HTTPS, which can close its connections itself. */
interface HttpServer extends Server {
  closeAllConnections(): void
}

/** Lets a server listen on a free port of this machine; the port. */
export const listening = async (server: Server, host = '127.0.0.1'): Promise<number> => {
  server.listen(0, host)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Closes a server, with the connections that it has if it speaks HTTP; those of another are closed by who holds them. */
export const closed = async (server: Server | HttpServer): Promise<void> => {
  const whenClosed = once(server, 'close')
  server.close()
  if ('closeAllConnections' in server) server.closeAllConnections()
  await whenClosed
}

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  const probe = createServer()
  const port = await listening(probe)
  await closed(probe)
  return port
}
