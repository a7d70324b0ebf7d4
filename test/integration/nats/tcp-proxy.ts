import { connect, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { closed, listening } from '../../story/listening.ts'

/** A way to a server that can be cut: a partition between whoever comes this way and the server. */
export class TcpProxy {
  private readonly target: number
  private port = 0
  private readonly server: Server
  private readonly sockets = new Set<Socket>()
  private isCut = false

  private constructor(target: number) {
    this.target = target
    this.server = createServer((socket) => this.join(socket))
  }

  static async to(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    proxy.port = await listening(proxy.server)
    return proxy
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`
  }

  /** Breaks all connections, and each new one at once. */
  cut(): void {
    this.isCut = true
    for (const socket of this.sockets) socket.destroy()
  }

  heal(): void {
    this.isCut = false
  }

  close(): Promise<void> {
    this.cut()
    return closed(this.server)
  }

  private join(socket: Socket): void {
    if (this.isCut) {
      socket.destroy()
      return
    }
    const other = connect(this.target, '127.0.0.1')
    for (const [from, to] of [[socket, other], [other, socket]] as const) {
      this.sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.sockets.delete(from)
        to.destroy()
      })
    }
  }
}
