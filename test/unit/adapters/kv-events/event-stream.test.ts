import { describe, expect, it } from 'vitest'
import type { BlockChange } from '../../../../src/adapters/kv-events/block-map.ts'
import { EventStream } from '../../../../src/adapters/kv-events/event-stream.ts'
import type { EventMessage } from '../../../../src/adapters/kv-events/message.ts'
import { batch, removed, stored } from './packing.ts'

/** Message n stores block n, of its own prompt. */
const message = (sequence: number, payload: Buffer = batch(stored([sequence + 1], [sequence, sequence]))): EventMessage => ({ topic: 'kv@p@m', sequence: BigInt(sequence), payload })

/** A stream whose replay is answered by hand. */
const given = (replays = true) => {
  const told: string[] = []
  const asked: { readonly from: bigint; answer(messages: readonly EventMessage[] | undefined): Promise<void> }[] = []
  const stream = new EventStream({
    naming: { hash: 'cbor-fnv', blockTokens: 2, seed: '', mask: undefined },
    model: '',
    change: (change: BlockChange) => told.push(change.kind === 'cleared' ? 'cleared' : `${change.kind} ${change.keys.length / 8}`),
    fault: (fault, count) => told.push(`${fault} ${count}`),
    skipped: ({ of, cacheKind }, reason) => told.push(`skipped ${of} ${cacheKind} ${reason}`),
    replay: !replays ? undefined : (from) => {
      const { promise, resolve } = Promise.withResolvers<readonly EventMessage[] | undefined>()
      asked.push({ from, answer: async (messages) => { resolve(messages); await new Promise(setImmediate) } })
      return promise
    },
  })
  return { stream, told, asked, take: (...sequences: readonly number[]) => sequences.forEach((sequence) => stream.take(message(sequence))) }
}

describe('EventStream without replay', () => {
  it('given messages in order, when taken, then all are told', () => {
    const { told, take } = given(false)
    take(0, 1, 2)
    expect(told).toEqual(['stored 1', 'stored 1', 'stored 1'])
  })

  it('given a stream that is joined late, when taken, then it goes on from there: nothing was known', () => {
    const { told, take } = given(false)
    take(7, 8)
    expect(told).toEqual(['stored 1', 'stored 1'])
  })

  it('given a gap, when taken, then the cache is cleared before what follows', () => {
    const { told, take } = given(false)
    take(0, 2, 3)
    expect(told).toEqual(['stored 1', 'gap 1', 'cleared', 'stored 1', 'stored 1'])
  })

  it('given a publisher that begins anew, when taken, then the cache is cleared', () => {
    const { told, take } = given(false)
    take(0, 1, 0)
    expect(told).toEqual(['stored 1', 'stored 1', 'restart 1', 'cleared', 'stored 1'])
  })

  it('given a lost connection, when it is back, then nothing is known, whatever the sequence', () => {
    const { stream, told, take } = given(false)
    take(0, 1)
    stream.disconnected()
    stream.connected()
    take(2)
    expect(told).toEqual(['stored 1', 'stored 1', 'cleared', 'stored 1'])
  })

  it('given a message that cannot be read, when taken, then what it changed is unknown', () => {
    const { stream, told, take } = given(false)
    take(0)
    stream.take(message(1, Buffer.of(1)))
    take(2)
    expect(told).toEqual(['stored 1', 'malformed 1', 'cleared', 'stored 1'])
  })

  it('given many changes of one kind in a message, when taken, then they are told as one', () => {
    const { stream, told } = given(false)
    stream.take(message(0, batch(stored([1, 2], [1, 2, 3, 4]), stored([3], [9, 9]), removed([1]), removed([2]), stored([4], [8, 8], { medium: 'CPU' }))))
    expect(told).toEqual(['stored 3', 'removed 2', 'stored 1'])
  })
})

describe('EventStream of several caches', () => {
  it('given events of which nothing is taken, when taken, then each is told with its reason, beside the fault, and what is unknown is a fault only', () => {
    const { stream, told } = given(false)
    stream.take(message(0, batch(stored([1], [1, 2], { kind: 'sliding_window' }), stored([2], [3, 4], { parent: 7 }), removed([8, 9]), ['Other', 1])))
    expect(told).toEqual([
      'cache-kind 1', 'cache-kind 1', 'skipped stored sliding_window cache-kind',
      'unknown-parent 1', 'skipped stored  unknown-parent', 'unknown-block 2', 'skipped removed  unknown-block',
    ])
  })
})

describe('EventStream with replay', () => {
  it('given a connection, when it is there, then everything that the publisher still has is told first, and what is in both once', async () => {
    const { stream, told, asked, take } = given()
    stream.connected()
    take(2, 3)
    expect(told).toEqual([])
    await asked[0]?.answer([message(0), message(1), message(2)])
    expect(asked.map(({ from }) => from)).toEqual([0n])
    expect(told).toEqual(['stored 1', 'stored 1', 'stored 1', 'stored 1'])
  })

  it('given a gap, when the missing messages are replayed, then nothing is cleared', async () => {
    const { told, asked, take } = given()
    take(0, 3)
    expect(asked[0]?.from).toBe(1n)
    take(4)
    await asked[0]?.answer([message(1), message(2), message(3)])
    expect(told).toEqual(['stored 1', 'gap 1', ...Array<string>(4).fill('stored 1')])
  })

  it('given a replay that does not reach back far enough, when it is there, then the cache is cleared at the hole', async () => {
    const { told, asked, take } = given()
    take(0, 5)
    await asked[0]?.answer([message(3), message(4), message(5)])
    expect(told).toEqual(['stored 1', 'gap 1', 'cleared', 'stored 1', 'stored 1', 'stored 1'])
  })

  it('given a replay that fails, when it is given up, then the cache is cleared, and soon after none is asked for', async () => {
    const { told, asked, take } = given()
    take(0, 2)
    await asked[0]?.answer(undefined)
    take(4)
    expect(asked).toHaveLength(1)
    expect(told).toEqual(['stored 1', 'gap 1', 'replay-failed 1', 'cleared', 'stored 1', 'gap 1', 'cleared', 'stored 1'])
  })

  it('given a publisher that begins anew, when noticed, then it tells from its beginning', async () => {
    const { told, asked, take } = given()
    take(0, 1, 2)
    take(1)
    expect(asked[0]?.from).toBe(0n)
    await asked[0]?.answer([message(0), message(1)])
    expect(told.slice(3)).toEqual(['restart 1', 'cleared', 'stored 1', 'stored 1'])
    take(2)
    expect(told.at(-1)).toBe('stored 1')
  })

  it('given a connection lost while it is replayed, when the replay comes, then it is of another time and not taken', async () => {
    const { stream, told, asked } = given()
    stream.connected()
    stream.disconnected()
    await asked[0]?.answer([message(0)])
    expect(told).toEqual([])
  })
})
