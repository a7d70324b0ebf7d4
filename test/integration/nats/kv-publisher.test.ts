import { asyncScheduler } from 'rxjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KvFollowers } from '../../../src/actors/kv-followers.ts'
import { KvPublisher } from '../../../src/adapters/nats/kv-publisher.ts'
import { KvReader } from '../../../src/adapters/nats/kv-reader.ts'
import { Names } from '../../../src/adapters/nats/names.ts'
import type { KvChange } from '../../../src/wire/index.ts'
import { NatsServer } from './nats-server.ts'

const NAMING = { hash: 'cbor-fnv', blockTokens: 16, root: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) }
const WAIT = { timeout: 15_000, interval: 20 }
const KEY_BYTES = 8

/** What is held, as often as it was stored: of whoever tells, and of whoever follows. */
class Cache {
  readonly counts = new Map<bigint, number>()

  take(kind: string, keys: Uint8Array): void {
    if (kind === 'cleared') this.counts.clear()
    for (const key of new BigUint64Array(keys.slice().buffer)) {
      const count = (this.counts.get(key) ?? 0) + (kind === 'stored' ? 1 : -1)
      if (count > 0) this.counts.set(key, count)
      else this.counts.delete(key)
    }
  }

  held(): KvChange[] {
    const keys = [...this.counts].flatMap(([key, count]) => Array.from({ length: count }, () => key))
    return [change('stored', BigUint64Array.from(keys))]
  }
}

const change = (kind: KvChange['kind'], keys: BigUint64Array): KvChange => ({ kind, keys: new Uint8Array(keys.buffer), tier: kind === 'cleared' ? '' : 'gpu' })
const keysFrom = (first: number, count: number): BigUint64Array => BigUint64Array.from({ length: count }, (_, at) => BigInt(first + at))

describe('what an agent tells of a cache, and who follows it', { timeout: 60_000 }, () => {
  let server: NatsServer
  let pool = 0

  beforeAll(async () => {
    server = await NatsServer.start()
  })
  afterAll(() => server.stop())

  /** An agent's publisher and a scheduler's reader in a pool of their own; `tell` changes the cache and tells of it. */
  const given = async () => {
    pool += 1
    const names = new Names('signalbox.v1', `pool${pool}`)
    const [agentLink, schedulerLink] = [await server.link(), await server.link()]
    const [told, followed] = [new Cache(), new Cache()]
    const sizes: number[] = []
    const faults: string[] = []
    let left = 0
    /** Loses so many reports more on their way; tells how many are still to be lost. */
    const drop = (more: number): number => (left += more)
    const followers = new KvFollowers({
      naming: NAMING,
      clock: asyncScheduler,
      submit: ({ input }) => {
        if (input?.kind === 'kvBlocksCleared') followed.take('cleared', new Uint8Array(0))
        if (input?.kind === 'kvBlocksStored') followed.take('stored', input.value.keys)
        if (input?.kind === 'kvBlocksRemoved') followed.take('removed', input.value.keys)
      },
      holds: () => false,
      want: (endpoint, incarnation, sequence) => reader.want(endpoint, incarnation, sequence),
      fault: (_endpoint, fault) => faults.push(fault),
    })
    const reader = new KvReader({
      link: schedulerLink, names, streamReplicas: 1,
      report: (report) => {
        if (left > 0) {
          left -= 1
          return
        }
        sizes.push(report.changes.reduce((sum, { keys }) => sum + keys.length, 0))
        followers.reported(report)
      },
      refused: (fault) => faults.push(fault),
      room: () => undefined,
      began: () => followers.doubt(),
      failed: (error) => faults.push(String(error)),
    })
    await reader.start()
    const publisher = new KvPublisher({ link: agentLink, names, endpoint: 'e', incarnation: 'one', naming: NAMING, held: () => told.held(), failed: (error) => faults.push(String(error)) })
    const tell = (kind: KvChange['kind'], keys: BigUint64Array): void => {
      const one = change(kind, keys)
      told.take(kind, one.keys)
      publisher.changed(one)
    }
    followers.follow([{ id: 'e', incarnation: 'one' }])
    const same = (): Promise<void> => expect.poll(() => followers.waiting === 0 && followed.counts.size === told.counts.size && [...told.counts].every(([key, count]) => followed.counts.get(key) === count), WAIT).toBe(true)
    const close = async (): Promise<void> => {
      followers.close()
      await publisher.close()
      await reader.close()
    }
    return { followers, reader, sizes, faults, drop, tell, same, close }
  }

  it('given changes, some twice, then both hold the same, in messages that a server takes', async () => {
    const { tell, same, sizes, faults, close } = await given()
    tell('stored', keysFrom(0, 40_000))
    for (let n = 0; n < 200; n++) tell(n % 3 === 0 ? 'removed' : 'stored', keysFrom(64 * n, 64))
    await same()
    tell('cleared', keysFrom(0, 0))
    tell('stored', keysFrom(7, 3))
    await same()
    expect(Math.max(...sizes)).toBeLessThanOrEqual(KEY_BYTES * 16_384)
    expect(faults).toEqual([])
    await close()
  })

  it('given more at once than may wait, then all that is held is told instead', async () => {
    const { tell, same, faults, close } = await given()
    tell('stored', keysFrom(0, 10))
    await same()
    for (let n = 0; n < 300; n++) tell(n % 2 === 0 ? 'stored' : 'removed', keysFrom(0, 1000))
    tell('stored', keysFrom(50_000, 5))
    await same()
    expect(faults).toEqual(['gap'])
    await close()
  })

  it('given a report that the follower never gets, when the next one comes, then the gap is found and made good', async () => {
    const { tell, same, faults, drop, close } = await given()
    tell('stored', keysFrom(0, 10))
    await same()
    drop(1)
    tell('stored', keysFrom(10, 10))
    await expect.poll(() => drop(0), WAIT).toBe(0)
    tell('removed', keysFrom(0, 5))
    await same()
    expect(faults).toEqual(['gap'])
    await close()
  })

  it('given a follower that knows all, when it doubts, then one change of nothing tells it so; given one that missed something, then all is told', async () => {
    const { tell, same, followers, reader, sizes, faults, close } = await given()
    tell('stored', keysFrom(0, 10))
    await same()
    const told = (keys: number): number => sizes.filter((size) => size === keys * KEY_BYTES).length
    await reader.restart()
    await expect.poll(() => told(0), WAIT).toBe(1)
    followers.doubt()
    await expect.poll(() => told(0), WAIT).toBe(2)
    const before = told(10)
    reader.want('e', 'one', 1)
    await expect.poll(() => told(10), WAIT).toBeGreaterThan(before)
    reader.want('e', 'another life', 0)
    tell('stored', keysFrom(100, 1))
    await same()
    expect(faults).toEqual([])
    await close()
  })
})
