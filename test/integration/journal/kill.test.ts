import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { openJournal } from '../../../src/adapters/sqlite/open-journal.ts'
import { readRecords, startingPoint, UNACKNOWLEDGED_RECORDS_MAX, verify } from '../../../src/journal/index.ts'
import { sampleRecord } from '../../unit/journal/sample-records.ts'
import { runToEnd } from '../../unit/journal/sealed-journal.ts'
import { temporaryFolder } from './temporary-folder.ts'

const WRITER = fileURLToPath(new URL('./killed-writer.ts', import.meta.url))

/** Runs the writer until it has acknowledged `records` more, kills it, and gives the last position it acknowledged. */
async function writeAndKill(path: string, durability: string, records: number): Promise<{ readonly first: number; readonly acknowledged: number; readonly pid: number }> {
  const child = spawn(process.execPath, [WRITER, path, durability], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let text = ''
  let first: number | undefined
  let acknowledged = 0
  child.stdout.setEncoding('utf8')
  child.stdout.on('data', (data: string) => {
    text += data
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      acknowledged = Number(line)
      first ??= acknowledged
    }
    if (acknowledged >= (first ?? 0) + records) child.kill('SIGKILL')
  })
  const [, signal] = await exited as [number | null, string | null]
  expect(signal).toBe('SIGKILL')
  return { first: first ?? 0, acknowledged, pid: child.pid ?? 0 }
}

describe.each(['async', 'commit'])('a writer that is killed, under durability %s', durability => {
  it('loses nothing that it acknowledged, breaks nothing, and can be started again', async () => {
    const folder = temporaryFolder()
    let before = 0
    for (const records of [1, 300, 1500]) {
      const { first, acknowledged } = await writeAndKill(folder.file, durability, records)
      expect(first).toBeGreaterThanOrEqual(before)
      expect(first).toBeLessThanOrEqual(before + UNACKNOWLEDGED_RECORDS_MAX + 20)
      const reader = openJournal(folder.file)
      const { lastPosition, missing } = runToEnd(verify(reader))
      expect(lastPosition).toBeGreaterThanOrEqual(acknowledged)
      expect(missing).toEqual([])
      for (const record of readRecords(reader, Math.max(1, before - 5))) expect(record).toEqual(sampleRecord(record.position))
      const { position, state } = startingPoint(reader)
      if (position > 0) expect(new DataView(state.buffer, state.byteOffset).getFloat64(0)).toBe(position)
      reader.close()
      before = lastPosition
    }
    folder.remove()
  }, 60_000)
})

describe('a journal that another process writes', () => {
  it('given it runs, then it is named and the journal can be read; given it was killed, then the journal is free', async () => {
    const folder = temporaryFolder()
    const child = spawn(process.execPath, [WRITER, folder.file, 'async'], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    expect(() => SqliteJournalStore.own(folder.file, 'async', 0)).toThrow(
      expect.objectContaining({ code: 'journal-locked', message: `the journal is written by process ${child.pid}` }),
    )
    const reader = openJournal(folder.file)
    expect(runToEnd(verify(reader)).lastPosition).toBeGreaterThanOrEqual(0)
    reader.close()
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    SqliteJournalStore.own(folder.file, 'async', 0).close()
    folder.remove()
  }, 60_000)
})
