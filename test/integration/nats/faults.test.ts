import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAULTS } from '../../faults/nats-faults.ts'
import type { Fault } from '../../faults/nats-faults.ts'
import { PoolUnderLoad, THIRD } from '../../faults/pool-under-load.ts'

const LOAD = { givenUpAfterMs: 1000, inFlight: 2, paceMs: 20, loadMs: 100, others: 'memory' } as const
const SIZE = { noise: 100, reports: 60, flood: 3000, malformed: 100 }

const named = (...names: readonly string[]): readonly Fault[] =>
  names.map((name) => {
    const fault = FAULTS.find((each) => each.name === name)
    if (fault === undefined) throw new Error(`no fault is called ${name}`)
    return fault
  })

/** They wait for something: for a heartbeat that may come, or a process. They go on beside those that leave the broker alone. */
const SLOW = named('replica killed in mid-burst', 'two replicas with one name', 'agent with its clock ten minutes off')
const GENTLE = named('slow consumer', 'reports delivered twice and out of order', 'agent that floods', 'malformed messages by the thousand')
const BREAKING = FAULTS.filter((fault) => !SLOW.includes(fault) && !GENTLE.includes(fault))

describe('a pool of replicas on NATS, under load for a moment', () => {
  let pool: PoolUnderLoad
  const slow = new Map<Fault, Promise<void>>()

  beforeAll(async () => {
    pool = await PoolUnderLoad.start(LOAD)
    for (const fault of SLOW) slow.set(fault, fault.inject(pool, SIZE))
    for (const each of slow.values()) each.catch(() => undefined)
  }, 60_000)
  afterAll(() => pool.close())

  const survives = async (inject: () => Promise<void>): Promise<void> => {
    // What the replica that was killed had goes when its lease ends, which is waited for in the end.
    const outcome = await pool.during(inject, [THIRD])
    expect(outcome).toMatchObject({ lost: 0, twice: 0, countedWrong: 0, answered: outcome.sent })
    expect(outcome.sent).toBeGreaterThan(0)
  }

  it.each(GENTLE)('survives: $name', (fault) => survives(() => fault.inject(pool, SIZE)), 120_000)
  it.each(SLOW)('survives: $name', (fault) => survives(() => slow.get(fault) ?? Promise.reject(new Error('it was not begun'))), 120_000)
  it.each(BREAKING)('survives: $name', (fault) => survives(() => fault.inject(pool, SIZE)), 120_000)

  it('and in the end nothing is counted any more, and the journals are whole and come out the same', async () => {
    expect(await pool.settled()).toBe(0)
    expect(await pool.end()).toEqual({ divergences: 0, problems: [] })
  }, 120_000)
})
