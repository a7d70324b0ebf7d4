import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { AdminServer } from '../../../src/adapters/http/admin.ts'
import { mountLivePage } from '../../../src/app/ui/live-page.ts'
import { load } from '../../../src/app/load.ts'
import { START_CONFIGURATION } from '../../../src/app/start.ts'

const open: (() => Promise<void> | void)[] = []

afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** An admin server that serves the page of a journal kept in memory, which it says it cannot read. */
const served = async (ui: string): Promise<number> => {
  const { settings } = await load({ files: [START_CONFIGURATION], flags: new Map([['ui', ui], ['journal', 'memory']]), pluginModules: [], allowExperimental: true, endpoints: undefined })
  const healthy = (): { ok: boolean; reasons: readonly string[] } => ({ ok: true, reasons: [] })
  const server = new AdminServer({
    listen: { host: '127.0.0.1', port: 0 }, healthy, ready: healthy, metrics: () => Promise.resolve({ contentType: 'text/plain', text: '' }),
    pluginStates: () => [], endpoints: () => [], drain: () => 'unknown-endpoint', now: () => 0,
  })
  open.push(mountLivePage(server, settings), () => server.close())
  return (await server.listen()).port
}

/** Asks for the journal by the name under which a browser would know the server. */
const statusOf = (port: number, host: string, method = 'GET'): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/ui/api/journal', method, headers: { host } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    }).on('error', reject).end()
  })

describe('who is served the page of a running engine', () => {
  it.each([['127.0.0.1:9', 409], ['localhost', 409], ['[::1]:9', 409], ['evil.example', 403], ['127.0.0.1.evil.example', 403]])('by default this machine, under a name of its own: %s answers %d', async (host, status) => {
    expect(await statusOf(await served('loopback'), host)).toBe(status)
  })

  it('everybody where it is on, and nobody where it is off', async () => {
    expect([await statusOf(await served('on'), 'box.example'), await statusOf(await served('off'), '127.0.0.1')]).toEqual([409, 404])
  })

  it('may read and not write', async () => {
    const port = await served('on')
    expect(await Promise.all(['POST', 'PUT', 'DELETE'].map((method) => statusOf(port, '127.0.0.1', method)))).toEqual([405, 405, 405])
  })
})
