import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pool } from '../../../src/simulation/index.ts'
import { chat, fleetIn, run, spawnServer, temporaryFolder } from '../../story/server.ts'

interface Rows {
  readonly endpoints: readonly { readonly id: string; readonly requests: number }[]
}

const inFlight = async (adminUrl: string): Promise<number> => {
  const { endpoints } = (await (await fetch(`${adminUrl}/endpoints`)).json()) as Rows
  return endpoints.reduce((sum, { requests }) => sum + requests, 0)
}

describe('a server killed in the middle of requests', () => {
  const folder = temporaryFolder()
  let pool: Pool
  let lastId = ''
  beforeAll(async () => {
    pool = await fleetIn(folder.path, { speed: 1 })
  })
  afterAll(async () => {
    await pool.close()
    folder.remove()
  })

  it('starts again with nothing in flight, goes on, and its journal comes out the same', async () => {
    const first = await spawnServer(folder.path, { 'snapshot-every': '10' })
    await (await chat(first.url, 'A short one first.', 2)).text
    // These stream for many seconds: they are under way when the process dies.
    const cut = await Promise.all(['one', 'two', 'three'].map((content) => chat(first.url, content, 2000)))
    const broken = cut.map(({ text }) => text.then(() => 'whole', () => 'broken'))
    expect(await inFlight(first.adminUrl)).toBe(3)
    await first.stop('SIGKILL')
    expect(await Promise.all(broken)).toEqual(['broken', 'broken', 'broken'])

    const second = await spawnServer(folder.path)
    expect(await inFlight(second.adminUrl)).toBe(0)
    const after = await chat(second.url, 'And after it.', 2)
    lastId = after.id
    expect(await after.text).toContain('[DONE]')
    await expect.poll(() => pool.state().running).toBe(0)

    const blocked = await spawnServer(folder.path).catch((error: unknown) => String(error))
    expect(blocked).toContain('journal-locked')
    expect(await second.stop('SIGTERM')).toBe(0)

    for (const interpreter of ['table', 'xstate']) {
      const { code, out } = await run('replay', folder.path, '--interpreter', interpreter)
      expect(out).toContain('0 divergences')
      expect(code).toBe(0)
    }
    expect((await run('explain', folder.path, after.id)).out).toContain('decode on')
    expect((await run('journal', 'verify', folder.path)).code).toBe(0)
  }, 60_000)

  it('one byte flipped in a copy is named by replay and by verify', async () => {
    const copy = join(folder.path, 'copy.sqlite')
    copyFileSync(join(folder.path, 'journal.sqlite'), copy)
    // In a record: a snapshot only saves time, and a damaged one is passed over; a page that is free holds what once was.
    const database = new DatabaseSync(copy)
    const rows = database.prepare('SELECT first_position, bytes FROM batch').all() as unknown as { first_position: number; bytes: Uint8Array }[]
    const row = rows.find(({ bytes }) => Buffer.from(bytes).includes(lastId))
    if (row === undefined) throw new Error('no batch holds the last request')
    const at = Buffer.from(row.bytes).indexOf(lastId)
    row.bytes[at] = (row.bytes[at] ?? 0) ^ 1
    database.prepare('UPDATE batch SET bytes = ? WHERE first_position = ?').run(row.bytes, row.first_position)
    database.close()
    for (const command of [['replay', copy], ['journal', 'verify', copy]]) {
      const { code, errors, out } = await run(...command)
      expect(code).toBe(1)
      expect(errors + out).toMatch(/position \d+/)
    }
  }, 60_000)
})
