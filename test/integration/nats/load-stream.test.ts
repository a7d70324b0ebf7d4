import { jetstream } from '@nats-io/jetstream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LoadPublisher } from '../../../src/adapters/nats/load-publisher.ts'
import { LoadReader } from '../../../src/adapters/nats/load-reader.ts'
import { Names } from '../../../src/adapters/nats/names.ts'
import { encodePeerLoadReported, toBytes } from '../../../src/wire/index.ts'
import type { LoadAssigned, PeerLoadReported } from '../../../src/wire/index.ts'
import { NatsServer } from './nats-server.ts'

const WAIT = { timeout: 10_000, interval: 20 }

const load = (request: number, keyBytes: number): LoadAssigned =>
  ({ request, attempt: 1, profile: 'p', endpoint: 'e', incarnation: '', promptTokens: 1, outputTokens: 0, blocks: keyBytes === 0 ? [] : [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(keyBytes) }] })

describe('the load stream', () => {
  let server: NatsServer
  let pools = 0
  beforeAll(async () => {
    server = await NatsServer.start()
  })
  afterAll(() => server.stop())

  const given = async () => {
    const link = await server.link()
    const names = new Names('signalbox.v1', `load-${(pools += 1)}`)
    const options = { link, names, replica: 'a', runId: 'run', streamReplicas: 1, failed: () => undefined }
    const open: LoadAssigned[] = []
    const heard: PeerLoadReported[] = []
    const publisher = new LoadPublisher(options, () => open)
    const reader = new LoadReader({ ...options, replica: 'b' }, () => undefined, (report) => void heard.push(report))
    await reader.start()
    publisher.start()
    await expect.poll(() => heard.length, WAIT).toBe(1)
    const close = async (): Promise<void> => {
      await publisher.close()
      await reader.close()
    }
    return { link, names, open, heard, publisher, close }
  }

  it('given more keys than a message takes, then they go in several, in sequence, and what is released comes last', async () => {
    const { heard, publisher, close } = await given()
    publisher.changed(Array.from({ length: 64 }, (_, index) => load(index + 1, 32_768)), [{ request: 64, attempt: 1, profile: 'p' }])
    await expect.poll(() => heard.flatMap(({ assigned }) => assigned).length, WAIT).toBe(64)
    const parts = heard.slice(1)
    expect(parts.length).toBeGreaterThan(4)
    expect(parts.map(({ sequence }) => sequence)).toEqual(parts.map((_, index) => index + 2))
    expect(parts.map(({ released }) => released.length)).toEqual(parts.map((_, index) => (index === parts.length - 1 ? 1 : 0)))
    await close()
  })

  it('given the stream is purged or deleted, which nobody tells of, then the open set is told anew', async () => {
    await Promise.all(['PURGE', 'DELETE'].map(async (verb) => {
      const { link, names, open, heard, close } = await given()
      open.push(load(7, 0))
      await link.connection.request(`$JS.API.STREAM.${verb}.${names.loadStream}`, '')
      await expect.poll(() => heard.at(-1), WAIT).toMatchObject({ opens: true, sequence: 2, assigned: [{ request: 7 }] })
      await close()
    }))
  })

  it('given the stream is deleted and at once made again by somebody else, then the open set is told anew, whatever is in its place', async () => {
    const { link, names, open, heard, close } = await given()
    const manager = await link.manager()
    const { config } = await manager.streams.info(names.loadStream)
    await manager.streams.delete(names.loadStream)
    await manager.streams.add(config)
    // In the new stream this has the place that the open set had in the old one, and its subject.
    const place = await jetstream(link.connection).publish(names.load('a'), toBytes(encodePeerLoadReported, { replica: 'a', runId: 'run', sequence: 9, opens: false, assigned: [], released: [] }))
    expect(place.seq).toBe(1)
    open.push(load(7, 0))
    await expect.poll(() => heard.at(-1), WAIT).toMatchObject({ opens: true, sequence: 2, assigned: [{ request: 7 }] })
    await close()
  })
})
