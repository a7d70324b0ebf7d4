import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NatsJournalStore } from '../../../src/adapters/nats/journal/journal-store.ts'
import { SqliteJournalReader } from '../../../src/adapters/sqlite/journal-reader.ts'
import { readRecords, verify } from '../../../src/journal/index.ts'
import { runToEnd } from '../../unit/journal/sealed-journal.ts'
import { run } from '../../story/server.ts'
import { chatRequest, journalIn, NatsWorld, rowsOf } from './engine-on-nats.ts'

const WAIT = { timeout: 20_000, interval: 50 }
const NATS = { journal: 'nats' }

describe('an engine whose journal is in JetStream', { timeout: 90_000 }, () => {
  let world: NatsWorld

  beforeEach(async () => {
    world = await NatsWorld.start()
  })
  afterEach(() => world.close())

  const stored = <T>(read: (store: NatsJournalStore) => T): T => {
    const store = NatsJournalStore.open({ nats: { servers: world.server.url, name: 'test' }, prefix: 'signalbox.v1', pool: 'default', replica: 'replica-0', streamReplicas: 1 })
    try {
      return read(store)
    } finally {
      store.close()
    }
  }
  const requests = async (count: number): Promise<void> => {
    const client = await world.client()
    for (let n = 0; n < count; n++) await (await client.schedule(chatRequest())).ended({ cause: 'natural', status: 200 })
  }
  /** Every record of the file is in the stream, once, in order, and the chain holds. */
  const sameAs = (folder: string): number => {
    const reader = SqliteJournalReader.open(journalIn(folder))
    const own = [...readRecords(reader, 1)]
    reader.close()
    return stored((store) => {
      expect([...readRecords(store, 1)]).toEqual(own)
      expect(runToEnd(verify(store)).missing).toEqual([])
      return own.length
    })
  }
  const started = async (more: Readonly<Record<string, string>> = {}, folder?: string) => {
    const engine = await world.engine({ ...NATS, ...more }, folder)
    await world.agent('default/a')
    await expect.poll(() => rowsOf(engine), WAIT).not.toEqual([])
    return engine
  }

  it('given requests, when it is closed, then the stream holds every record; another machine goes on from there', async () => {
    const engine = await started({ durability: 'commit' })
    await requests(5)
    await engine.close()
    const records = sameAs(engine.folder)
    for (const end of ['', '-wal', '-shm', '-lock']) rmSync(`${journalIn(engine.folder)}${end}`, { force: true })
    const again = await started({}, engine.folder)
    await requests(2)
    await again.close()
    expect(sameAs(again.folder)).toBeGreaterThan(records)
    expect((await run('replay', journalIn(again.folder))).out).toContain('0 divergences')
  })

  it('given an engine that writes, then commands read the stream, and its own page tells what it writes', async () => {
    const engine = await started()
    await requests(3)
    await (await (await world.client()).schedule({ ...chatRequest(), requestId: 'asked-for' })).ended({ cause: 'natural', status: 200 })
    const place = `${world.server.url}/default/replica-0`
    await expect.poll(async () => (await run('explain', place, 'asked-for')).code, WAIT).toBe(0)
    expect((await run('explain', place, 'asked-for')).out).toContain('default/a')
    expect((await run('replay', place)).out).toContain('0 divergences')
    expect((await run('journal', 'verify', place)).out).toContain(`${place} is whole`)
    expect(JSON.parse((await run('journal', 'stat', '--json', place)).out)).toMatchObject({ requests: 4 })
    // What comes meanwhile is told too.
    expect((await run('journal', 'tail', '-n', '2', place)).out.trim().split('\n').length).toBeGreaterThanOrEqual(2)
    const file = join(engine.folder, 'slice.sbj')
    expect((await run('journal', 'export', place, file)).code).toBe(0)
    expect((await run('replay', file)).out).toContain('0 divergences')
    const other = await run('journal', 'stat', `${world.server.url}/default/nobody`)
    expect([other.code, other.out + other.errors]).toEqual([2, expect.stringContaining('signalbox_default_journal_replica-0')])
    // Nothing was made by looking.
    const { connection } = await world.server.link()
    expect((await connection.request('$JS.API.STREAM.NAMES', '')).json<{ streams: string[] }>().streams.filter((name) => name.includes('nobody'))).toEqual([])
    const live = async (path: string): Promise<Response> => fetch(`${engine.adminUrl}/ui/api/${path}`)
    const { lastPosition } = (await (await live('journal')).json()) as { lastPosition: number }
    await requests(1)
    await expect.poll(async () => (await (await live(`after?position=${lastPosition}`)).arrayBuffer()).byteLength, WAIT).toBeGreaterThan(100)
  })

  it('given the broker is killed under load, then the engine goes on, and afterwards nothing is lost and nothing is there twice', async () => {
    const engine = await started({ durability: 'commit' })
    await requests(3)
    await world.server.kill()
    await expect.poll(() => engine.host.link.state, WAIT).toBe('spooling')
    const asked = engine.host.desk.receive({ ...(await import('../../../src/wire/index.ts')).emptyRequestReceived(), requestId: 'meanwhile', model: 'sim-model' }, () => undefined)
    expect((await asked).kind).toBe('routed')
    await world.server.begin()
    await expect.poll(() => engine.lines.some((line) => line.includes('NATS is back')), WAIT).toBe(true)
    await expect.poll(() => engine.host.link.state, WAIT).toBe('live')
    await requests(3)
    await engine.close()
    sameAs(engine.folder)
    expect(stored((store) => store.arrivalsOf('meanwhile'))).toHaveLength(1)
  })

  it('given the stream is deleted, purged or the server\'s data is gone, then the stream is made anew from the file', async () => {
    const engine = await started()
    await requests(3)
    const { connection } = await world.server.link()
    await connection.request('$JS.API.STREAM.PURGE.signalbox_default_journal_replica-0', '{}')
    await requests(2)
    await connection.request('$JS.API.STREAM.DELETE.signalbox_default_journal_replica-0', '')
    await requests(2)
    await world.server.kill()
    world.server.forget()
    await world.server.begin()
    await expect.poll(() => engine.lines.some((line) => line.includes('NATS is back')), WAIT).toBe(true)
    await expect.poll(() => engine.host.link.state, WAIT).toBe('live')
    await engine.close()
    sameAs(engine.folder)
  })

  it('given another journal of the same replica, then the second writer is refused and the first goes on', async () => {
    const first = await started()
    await requests(3)
    await expect.poll(() => stored((store) => store.lastPosition()), WAIT).toBeGreaterThan(6)
    await expect(world.engine({ ...NATS })).rejects.toMatchObject({ code: 'replica-name-taken' })
    await requests(2)
    expect(first.host.link.state).toBe('live')
    expect(stored((store) => runToEnd(verify(store)).missing)).toEqual([])
  })
})
