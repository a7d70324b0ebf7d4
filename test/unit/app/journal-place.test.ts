import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { changes, isExported, pruneJournal } from '../../../src/app/journal-files.ts'
import { isInStream, openJournalAt } from '../../../src/app/journal-place.ts'

describe('where a journal is', () => {
  it.each(['nats://127.0.0.1:4222', 'nats://127.0.0.1:4222/epp', 'nats://127.0.0.1:4222/epp/', 'tls://h/e.p/r', 'nats:///epp/replica-0', 'nats://h/epp/replica-0/more'])('given %s, then it says how to write it', (place) => {
    expect(isInStream(place)).toBe(true)
    expect(() => openJournalAt(place)).toThrow(expect.objectContaining({ code: 'usage', message: expect.stringContaining('nats://host:port/POOL/REPLICA') as string }) as Error)
  })

  it('given a user and password in it, then they are refused and not repeated', () => {
    expect(() => openJournalAt('nats://u:hush@127.0.0.1:1/epp/replica-0')).toThrow(expect.objectContaining({ code: 'usage', message: expect.not.stringContaining('hush') as string }) as Error)
  })

  it('given a path, then the file system is looked at', () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-place-'))
    expect(() => openJournalAt(join(folder, 'nats'))).toThrow(expect.objectContaining({ code: 'journal-not-found' }) as Error)
    rmSync(folder, { recursive: true })
  })

  it('given a journal in JetStream, then it is no exported file, is pruned by its engine alone, and may have grown whenever it is looked at', async () => {
    const place = 'nats://127.0.0.1:1/epp/replica-0'
    expect(isExported(place)).toBe(false)
    expect(() => pruneJournal(place, { ageUs: 1, bytes: 1 }, 1, () => undefined)).toThrow(expect.objectContaining({ code: 'usage' }) as Error)
    const stop = new AbortController()
    let looks = 0
    for await (const _ of changes(place, stop.signal)) {
      looks += 1
      stop.abort()
    }
    expect(looks).toBe(1)
  })
})
