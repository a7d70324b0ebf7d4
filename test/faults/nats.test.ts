import { afterAll, describe, expect, it } from 'vitest'
import { FAULTS } from './nats-faults.ts'
import { PoolUnderLoad } from './pool-under-load.ts'
import type { Outcome } from './pool-under-load.ts'

const LOAD = { givenUpAfterMs: 4000, inFlight: 32, paceMs: 0, loadMs: 3000, others: 'nats' } as const
const SIZE = { noise: 400, reports: 600, flood: 100_000, malformed: 5000 }

describe('a pool of replicas on NATS under load', () => {
  const rows: (readonly [string, Outcome])[] = []

  it.each(FAULTS)('survives: $name', async ({ name, inject }) => {
    const pool = await PoolUnderLoad.start(LOAD)
    try {
      const outcome = await pool.during((each) => inject(each, SIZE))
      rows.push([name, outcome])
      expect(outcome).toMatchObject({ lost: 0, twice: 0, countedWrong: 0, answered: outcome.sent })
      expect(await pool.end()).toEqual({ divergences: 0, problems: [] })
    } finally {
      await pool.close()
    }
  }, 240_000)

  afterAll(() => {
    const line = (cells: readonly (string | number)[]): string => `${String(cells[0]).padEnd(42)}${cells.slice(1).map((cell) => String(cell).padStart(15)).join('')}\n`
    process.stdout.write(`\n${line(['fault', 'load in flight', 'sent', 'answered', 'lost', 'twice', 'counted wrong'])}`)
    for (const [name, { sent, answered, lost, twice, countedWrong }] of rows) process.stdout.write(line([name, LOAD.inFlight, sent, answered, lost, twice, countedWrong]))
  })
})
