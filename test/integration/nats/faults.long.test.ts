import { describe, expect, it } from 'vitest'
import { FAULTS } from '../../faults/nats-faults.ts'
import { PoolUnderLoad } from '../../faults/pool-under-load.ts'

/** Those that no other test here has; all of them under a longer load are in `npm run test:faults`. */
const SHORT: ReadonlySet<string> = new Set(['slow consumer', 'reports delivered twice and out of order', 'replica killed in mid-burst', 'agent with its clock ten minutes off'])

describe('a pool of replicas on NATS, under load for a moment', () => {
  it.each(FAULTS.filter(({ name }) => SHORT.has(name)))('survives: $name', async ({ inject }) => {
    const pool = await PoolUnderLoad.start()
    try {
      const outcome = await pool.under((each) => inject(each), 500)
      expect(outcome).toMatchObject({ lost: 0, twice: 0, countedWrong: 0, divergences: 0, journalsWhole: true, answered: outcome.sent })
    } finally {
      await pool.close()
    }
  }, 120_000)
})
