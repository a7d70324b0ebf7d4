import { afterAll, describe, expect, it } from 'vitest'
import { FAULTS } from './nats-faults.ts'
import { PoolUnderLoad } from './pool-under-load.ts'
import type { Outcome } from './pool-under-load.ts'

const LOAD_MS = 3000
const IN_FLIGHT = 32

describe('a pool of replicas on NATS under load', () => {
  const rows: (readonly [string, Outcome])[] = []

  it.each(FAULTS)('survives: $name', async ({ name, inject }) => {
    const pool = await PoolUnderLoad.start()
    try {
      const outcome = await pool.under((each) => inject(each), LOAD_MS, IN_FLIGHT)
      rows.push([name, outcome])
      expect(outcome).toMatchObject({ lost: 0, twice: 0, countedWrong: 0, divergences: 0, journalsWhole: true })
      expect(outcome.answered).toBe(outcome.sent)
    } finally {
      await pool.close()
    }
  }, 240_000)

  afterAll(() => {
    const line = (cells: readonly (string | number)[]): string => `${String(cells[0]).padEnd(42)}${cells.slice(1).map((cell) => String(cell).padStart(15)).join('')}\n`
    process.stdout.write(`\n${line(['fault', 'load in flight', 'sent', 'answered', 'lost', 'twice', 'counted wrong'])}`)
    for (const [name, { sent, answered, lost, twice, countedWrong }] of rows) process.stdout.write(line([name, IN_FLIGHT, sent, answered, lost, twice, countedWrong]))
  })
})
