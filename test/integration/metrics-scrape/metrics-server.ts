import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { closed, listening } from '../../story/listening.ts'

export interface MetricsServer {
  readonly port: number
  readonly url: string
  /** Requests got so far. */
  requests: number
  /** Connections made so far, and those open now. */
  connections: number
  readonly open: Set<Socket>
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>
  close(): Promise<void>
}

/** A real HTTP server on a free port that answers as it is told. */
export const serveMetrics = async (
  answer: (response: ServerResponse, request: IncomingMessage) => void,
  tls?: { readonly cert: string; readonly key: string },
): Promise<MetricsServer> => {
  const open = new Set<Socket>()
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    served.requests += 1
    answer(response, request)
  }
  const server: Server = tls === undefined ? createServer(onRequest) : createTlsServer(tls, onRequest)
  const whenClosed: (() => void)[] = []
  server.on('connection', (socket) => {
    served.connections += 1
    open.add(socket)
    socket.on('close', () => {
      open.delete(socket)
      if (open.size === 0) for (const tell of whenClosed.splice(0)) tell()
    })
  })
  const port = await listening(server)
  const served: MetricsServer = {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/metrics`,
    requests: 0,
    connections: 0,
    open,
    allClosed: () => new Promise((resolve) => (open.size === 0 ? resolve() : whenClosed.push(resolve))),
    close: () => closed(server),
  }
  return served
}
