import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pool } from '../../../src/simulation/index.ts'
import { chat, fleetIn, run, spawnServer, temporaryFolder } from '../../story/server.ts'
import type { ServerProcess } from '../../story/server.ts'

/** Whatever the server would write beyond these bytes of a file fails, as on a disk that is full; "unlimited" makes room again. */
const fileBytes = ({ process: { pid } }: ServerProcess, bytes: number | 'unlimited'): void => {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

const ready = async (server: ServerProcess): Promise<number> => (await fetch(`${server.adminUrl}/readyz`)).status

describe('a disk that is full while a server writes its journal', () => {
  const folder = temporaryFolder()
  let pool: Pool
  beforeAll(async () => {
    pool = await fleetIn(folder.path, { prefill: 0, encode: 0 })
  })
  afterAll(async () => {
    await pool.close()
    folder.remove()
  })

  /** The status of a request that is sent and ended. */
  const ask = async (server: ServerProcess): Promise<number> => {
    const { status, text } = await chat(server.url, 'Hello', 2)
    await text
    return status
  }

  it('under continue: not ready, every request served; ready again with the room; and the journal replays', async () => {
    const server = await spawnServer(folder.path)
    expect([await ask(server), await ready(server)]).toEqual([200, 200])
    fileBytes(server, 4096)
    const statuses: number[] = []
    await expect.poll(async () => {
      statuses.push(await ask(server))
      return ready(server)
    }, { timeout: 20_000 }).toBe(503)
    expect((await (await fetch(`${server.adminUrl}/readyz`)).text())).toContain('journal is spooling')
    for (let i = 0; i < 5; i += 1) statuses.push(await ask(server))
    expect(new Set(statuses)).toEqual(new Set([200]))
    fileBytes(server, 'unlimited')
    await expect.poll(() => ready(server), { timeout: 20_000 }).toBe(200)
    expect(await ask(server)).toBe(200)
    expect(await server.stop('SIGTERM')).toBe(0)
    expect((await run('journal', 'verify', folder.path)).code).toBe(0)
    expect(await run('replay', folder.path)).toMatchObject({ code: 0, out: expect.stringContaining('0 divergences') as string })
  }, 90_000)

  it('under refuse: 503 for each request until there is room', async () => {
    const server = await spawnServer(folder.path, { 'on-journal-failure': 'refuse' })
    fileBytes(server, 4096)
    await expect.poll(() => ask(server), { timeout: 20_000 }).toBe(503)
    const refused = await chat(server.url, 'Hello', 2)
    expect(JSON.parse(await refused.text)).toMatchObject({ error: { message: expect.stringContaining('journal cannot be written') as string } })
    fileBytes(server, 'unlimited')
    await expect.poll(() => ask(server), { timeout: 20_000 }).toBe(200)
    expect(await server.stop('SIGTERM')).toBe(0)
  }, 60_000)
})
