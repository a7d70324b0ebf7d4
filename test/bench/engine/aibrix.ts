/**
 * One decision of AIBrix's prefill/decode router: 128 endpoints in 32 rolesets, prompts of 56 kB in blocks of 128 bytes,
 * the prefix table full. `node test/bench/engine/aibrix.ts`
 */
import type { Input } from '../../../src/wire/input.ts'
import { ended, sent, started } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'
import { aibrixConfiguration, pdEndpoint, prompted, stageEnded } from '../../unit/aibrix/story.ts'
import { microseconds, report } from '../harness.ts'
import type { Figure } from '../harness.ts'

const BLOCK_BYTES = 128
const PROMPT = 'Which way at the junction, and which way at the one behind it? '
const REPEATED = 890
/** Different prompts; their blocks fill the table. */
const PROMPTS = 64
const TABLE = 20_000

const fleetOf = (endpoints: number): World => {
  const world = new World(aibrixConfiguration({ prefixCacheBlockSize: BLOCK_BYTES, prefixCacheBlockNumber: TABLE }))
  for (let i = 0; i < endpoints / 2; i += 1) world.take(pdEndpoint(`p${i}`, 'prefill', `roleset-${i % (endpoints / 4)}`), pdEndpoint(`d${i}`, 'decode', `roleset-${i % (endpoints / 4)}`))
  return world
}

/** Figures of this bench. */
export const figures = (): Figure[] => {
  const inputs = Array.from({ length: PROMPTS }, (_, i) => prompted(`r${i}`, `${i} ${PROMPT.repeat(REPEATED)}`, BLOCK_BYTES))
  return [8, 128].map((endpoints) => {
    const world = fleetOf(endpoints)
    const value = microseconds(PROMPTS, (i) => {
      const { key } = world.request(structuredClone(inputs[i]) as Input)
      world.take(stageEnded(key), sent(key), started(key), ended(key))
      world.records.length = 0
      world.effects.length = 0
    }, 7)
    return { name: `one request of ${Math.floor((PROMPT.length * REPEATED) / BLOCK_BYTES)} blocks, all its inputs, ${endpoints} endpoints`, value, unit: 'µs' }
  })
}

if (import.meta.main) report("AIBrix's prefill/decode router", figures())
