import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { sampleRecord, sampleRecords, START_US } from '../../unit/journal/sample-records.ts'
import { JournalFiller } from '../../unit/journal/sealed-journal.ts'
import { temporaryFolder } from './temporary-folder.ts'

const COMMAND = fileURLToPath(new URL('./journal-command.ts', import.meta.url))

let folder = temporaryFolder()
beforeEach(() => {
  folder = temporaryFolder()
  const store = SqliteJournalStore.own(folder.file, 'async', 0)
  new JournalFiller(store).append(sampleRecords(1, 20), 4).roll().append(sampleRecords(21, 40), 4)
  store.close()
})
afterEach(() => folder.remove())

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

function run(...args: readonly string[]): Promise<Ran> {
  return new Promise(resolve => {
    execFile(process.execPath, [COMMAND, ...args], (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}

/** Flips a bit in what the record of a request says. */
function damage(path: string, request: number): void {
  const bytes = readFileSync(path)
  const at = bytes.indexOf(`request-${request}-`)
  bytes[at] = (bytes[at] as number) ^ 1
  writeFileSync(path, bytes)
}

describe('journal stat', () => {
  it('given a journal, then it tells positions, times, kinds and sizes', async () => {
    const { code, out } = await run('stat', folder.path, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      firstPosition: 1, lastPosition: 40, records: 40, requests: 10, segments: 2, batches: 10,
      firstAtUs: START_US + 1000, lastAtUs: START_US + 40_000,
      kinds: [{ kind: 'request-received', records: 10 }, { kind: 'request-sent', records: 10 }, { kind: 'response-ended', records: 10 }, { kind: 'response-started', records: 10 }],
      segmentList: [{ basePosition: 0 }, { basePosition: 20 }],
    })
    const text = await run('stat', folder.file)
    expect(text.out).toContain('1 to 40')
    expect(text.out).toMatch(/request-received +10/)
  })
})

describe('journal tail', () => {
  it('given a number, then it prints so many of the last records, as text or JSON', async () => {
    const { code, out } = await run('tail', folder.file, '-n', '2', '--json')
    expect(code).toBe(0)
    expect(out.trim().split('\n').map(line => (JSON.parse(line) as { position: number }).position)).toEqual([39, 40])
    const text = await run('tail', folder.file, '-n', '4')
    expect(text.out).toContain('37  2025-11-24T16:00:00.037000Z  request-received  requestId=request-37-')
    expect(text.out).toContain('-> routed: default default/pod-1')
  })

  it('given --follow, then it prints what is written meanwhile until it is interrupted', async () => {
    const child = spawn(process.execPath, [COMMAND, 'tail', folder.file, '-n', '1', '--follow', '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const next = async (): Promise<number> => (JSON.parse((await lines.next()).value as string) as { position: number }).position
    expect(await next()).toBe(40)
    const store = SqliteJournalStore.own(folder.file, 'async', 0)
    const filler = new JournalFiller(store)
    filler.seal = lastSeal(store)
    filler.append([sampleRecord(41), sampleRecord(42)])
    expect(await next()).toBe(41)
    expect(await next()).toBe(42)
    const exited = once(child, 'exit')
    child.kill('SIGINT')
    expect(await exited).toEqual([0, null])
    store.close()
  })
})

describe('journal export', () => {
  it('given a span, then it writes a file that all commands open', async () => {
    const file = join(folder.path, 'slice.sbj')
    const { code, out } = await run('export', folder.file, file, '--from', '22', '--to', '30', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ firstPosition: 21, lastPosition: 32, records: 12, bytes: statSync(file).size })
    expect((await run('verify', file)).out).toContain('whole up to position 32: 12 records in 3 batches')
    expect(JSON.parse((await run('stat', file, '--json')).out)).toMatchObject({ records: 12, firstPosition: 21 })
    expect((await run('tail', file, '-n', '1')).out).toMatch(/^32 /)
    expect(await run('tail', file, '--follow')).toMatchObject({ code: 2, err: expect.stringContaining('leave out --follow') as string })
  })

  it('given the journal is damaged, then no file is left and the place is named', async () => {
    damage(folder.file, 29)
    const file = join(folder.path, 'slice.sbj')
    const { code, err } = await run('export', folder.file, file)
    expect(code).toBe(1)
    expect(err).toContain('position 28')
    expect(existsSync(file)).toBe(false)
    expect(existsSync(`${file}.partial`)).toBe(false)
    expect((await run('export', folder.file, file, '--to', '28')).code).toBe(0)
  })
})

describe('journal verify', () => {
  it('given a whole journal, then it says so', async () => {
    expect(await run('verify', folder.file)).toMatchObject({ code: 0, out: expect.stringContaining('40 records in 10 batches, 2 bases') as string })
    expect(await run('verify', folder.file, '--base', '20')).toMatchObject({ code: 0, out: expect.stringContaining('20 records') as string })
  })

  it('given a damaged one, then it names the file, the last good position and the fix, and ends with 1', async () => {
    damage(folder.file, 29)
    const { code, err } = await run('verify', folder.file)
    expect(code).toBe(1)
    expect(err).toContain(folder.file)
    expect(err).toContain('good up to position 28')
    expect(err).toContain('[journal-broken-chain]')
    const machine = await run('verify', folder.file, '--json')
    expect(machine.code).toBe(1)
    expect(JSON.parse(machine.out)).toMatchObject({ whole: false, fault: 'journal-broken-chain', goodPosition: 28 })
  })

  it('given no journal, then that is wrong usage', async () => {
    expect(await run('verify', join(folder.path, 'nowhere'))).toMatchObject({ code: 2, err: expect.stringContaining('[journal-not-found]') as string })
    expect(await run('verify')).toMatchObject({ code: 2 })
  })
})

describe('journal prune', () => {
  it('given what to keep, then whole old segments go', async () => {
    const { code, out } = await run('prune', folder.file, '--keep', '1B', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ segments: 1, basePosition: 20 })
    expect((await run('verify', folder.file)).out).toContain('20 records')
  })

  it('given it is written by a process, an exported file, or bounds that are none, then it is refused', async () => {
    const store = SqliteJournalStore.own(folder.file, 'async', 0)
    expect(await run('prune', folder.file, '--keep', '1B')).toMatchObject({ code: 1, err: expect.stringContaining(`process ${process.pid}`) as string })
    store.close()
    expect(await run('prune', folder.file, '--keep', 'all')).toMatchObject({ code: 2, err: expect.stringContaining('24h,20GB') as string })
    expect(await run('prune', join(folder.path, 'nowhere'), '--keep', '1h')).toMatchObject({ code: 2 })
    expect(existsSync(join(folder.path, 'nowhere'))).toBe(false)
  })
})

function lastSeal(store: SqliteJournalStore): bigint {
  const last = [...store.batches(store.lastPosition() - 1)].at(-1)
  return Buffer.from(last?.bytes ?? []).readBigUInt64LE((last?.bytes.length ?? 8) - 8)
}
