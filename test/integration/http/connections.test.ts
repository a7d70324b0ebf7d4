import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { Attempt } from '../../../src/adapters/http/attempt.ts'
import type { AttemptListener } from '../../../src/adapters/http/attempt.ts'
import { Connections } from '../../../src/adapters/http/connections.ts'
import { answers, closing, rawUpstream, upstream } from './setting.ts'

const connectionsWith = (idleMs: number): Connections => {
  const connections = new Connections({ connectTimeoutMs: 5000, idleMs })
  closing(() => connections.close())
  return connections
}

/** Makes one request; resolves with its end. */
const ask = (connections: Connections, hostPort: string, stale: () => void = () => undefined): Promise<string> =>
  new Promise((resolve) => {
    const listener: AttemptListener = {
      sent: () => undefined,
      head: () => undefined,
      data: () => undefined,
      end: () => {
        resolve('end')
      },
      failed: (cause) => {
        resolve(cause)
      },
    }
    new Attempt(connections, { hostPort, method: 'POST', path: '/', headers: [], body: Buffer.from('{}') }, listener, stale).start()
  })

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'

describe('connections to endpoints', () => {
  it('are used again, the latest first', async () => {
    const sockets = new Set<unknown>()
    const a = await upstream('a', (request, response) => {
      sockets.add(request.socket)
      answers(response, {})
    })
    const connections = connectionsWith(4000)
    for (let i = 0; i < 5; i++) expect(await ask(connections, a.endpoint.hostPort)).toBe('end')

    expect([sockets.size, connections.size]).toEqual([1, 1])
  })

  it('are given up after their idle time', async () => {
    const closed: Promise<unknown>[] = []
    const endpoint = await rawUpstream('a', (socket) => {
      closed.push(once(socket, 'close'))
      socket.on('data', () => socket.write(OK))
    })
    const connections = connectionsWith(30)
    await ask(connections, endpoint.hostPort)
    await Promise.all(closed)
    await expect.poll(() => connections.size).toBe(0)
  })

  it('that the endpoint closes while idle are forgotten', async () => {
    const endpoint = await rawUpstream('a', (socket) => {
      socket.on('data', () => socket.end(OK))
    })
    const connections = connectionsWith(4000)
    await ask(connections, endpoint.hostPort)
    await expect.poll(() => connections.size).toBe(0)
  })

  it('that turn out closed when used again are replaced once, unseen', async () => {
    let count = 0
    const endpoint = await rawUpstream('a', (socket) => {
      count++
      let requests = 0
      socket.on('data', () => {
        requests++
        if (requests === 1) socket.write(OK)
        else socket.resetAndDestroy()
      })
    })
    const connections = connectionsWith(4000)
    let stale = 0
    for (let i = 0; i < 5; i++) expect(await ask(connections, endpoint.hostPort, () => stale++)).toBe('end')

    expect([count, stale]).toEqual([5, 4])
  })

  it('that are new and reset are the endpoint’s failure', async () => {
    let count = 0
    const endpoint = await rawUpstream('a', (socket) => {
      count++
      socket.once('data', () => socket.resetAndDestroy())
    })

    expect([await ask(connectionsWith(4000), endpoint.hostPort), count]).toEqual(['reset', 1])
  })

  it('end with their request, also while they are being made', async () => {
    const seen: Buffer[] = []
    const endpoint = await rawUpstream('a', (socket) => {
      socket.on('data', (data: Buffer) => seen.push(data))
    })
    const connections = connectionsWith(4000)
    const told: string[] = []
    const tell = (what: string) => (): void => {
      told.push(what)
    }
    const attempt = new Attempt(connections, { hostPort: endpoint.hostPort, method: 'POST', path: '/', headers: [], body: Buffer.from('{}') },
      { sent: tell('sent'), head: tell('head'), data: tell('data'), end: tell('end'), failed: tell('failed') }, tell('stale'))
    attempt.start()
    attempt.abort()

    expect(connections.size).toBe(0)
    // A second request is answered only after the first would have been.
    const other = await rawUpstream('b', (socket) => {
      socket.on('data', () => socket.write(OK))
    })
    await ask(connections, other.hostPort)
    expect([told, seen]).toEqual([[], []])
  })
})
