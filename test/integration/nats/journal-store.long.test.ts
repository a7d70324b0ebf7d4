import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NatsJournalStore } from '../../../src/adapters/nats/journal/journal-store.ts'
import { storeContract } from '../journal/store-contract.ts'
import type { Backend } from '../journal/store-contract.ts'
import { sampleRecords } from '../../unit/journal/sample-records.ts'
import { batchOf, JournalFiller, runToEnd } from '../../unit/journal/sealed-journal.ts'
import { verify } from '../../../src/journal/index.ts'
import { NatsServer } from './nats-server.ts'

let server: NatsServer
let journals = 0

const storeOf = (replica: string): NatsJournalStore =>
  NatsJournalStore.open({ nats: { servers: server.url, name: 'test' }, prefix: 'signalbox.v1', pool: 'default', replica, streamReplicas: 1 })

beforeAll(async () => {
  server = await NatsServer.start()
})
afterAll(() => server.stop())

const natsBackend = (): Backend => {
  journals += 1
  const replica = `r${journals}`
  let store: NatsJournalStore | undefined
  return {
    open: () => (store ??= storeOf(replica)),
    openReader: () => storeOf(replica),
    clean: () => store?.close(),
  }
}

storeContract('JetStream', natsBackend)

describe('two writers of one journal in JetStream', () => {
  it('given both think that they own it, then the one that is late is refused, and nothing is stored twice', () => {
    const first = new JournalFiller(storeOf('fenced'))
    const second = storeOf('fenced')
    first.append(sampleRecords(1, 4))
    const late = batchOf(sampleRecords(1, 3), first.seal)
    expect(() => second.append([late])).toThrow(expect.objectContaining({ code: 'journal-locked' }) as Error)
    first.append(sampleRecords(5, 9))
    expect(runToEnd(verify(first.store))).toMatchObject({ records: 9 })
    second.close()
    first.store.close()
  })

  it('given a batch is sent again after its acknowledgement was lost, then it is stored once', () => {
    const filler = new JournalFiller(storeOf('again'))
    const other = storeOf('again')
    const batch = batchOf(sampleRecords(1, 4), filler.seal)
    filler.store.append([batch])
    other.append([batch])
    expect(runToEnd(verify(filler.store))).toMatchObject({ records: 4, batches: 1 })
    other.close()
    filler.store.close()
  })
})
