/**
 * One whole request under pd-epp-config at 128 endpoints: received, sent, started, progressed, ended; decision, records
 * encoded; then what 100,000 live requests keep. `node test/bench/engine/request.ts`
 */
import { Writer } from '../../../src/wire/runtime.ts'
import { appendRecord } from '../../../src/journal/record.ts'
import { disaggregated } from '../../story/configuration.ts'
import { ended, progressed, sent, started } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'
import type { Input } from '../../../src/wire/input.ts'
import { microseconds, report, retained } from '../harness.ts'
import type { Figure } from '../harness.ts'
import { joinFleet } from './fleets.ts'
import { arrival } from './prompts.ts'

const ENDPOINTS = 128
const LIVE = 100_000

/** A world that forgets what it did: the bench keeps no journal. */
const quietWorld = (): World => {
  const world = new World(disaggregated(16))
  joinFleet(world, ENDPOINTS)
  world.records.length = 0
  world.effects.length = 0
  return world
}

/** Figures of this bench. */
export const figures = (): Figure[] => {
  const world = quietWorld()
  const writer = new Writer(1 << 20)
  let bytes = 0
  let requests = 0
  let key = 0
  const take = (input: Input): void => {
    world.at += 10
    const { record } = world.engine.step(input, world.at)
    if (input.input?.kind === 'requestReceived') key = record.position
    const before = writer.length
    appendRecord(record, writer)
    bytes += writer.length - before
    if (writer.length > 1 << 19) writer.finish()
  }
  const arrivals = Array.from({ length: 2000 }, (_, i) => arrival(i))
  const one = microseconds(2000, (i) => {
    take(structuredCloneOf(arrivals[i % arrivals.length] as Input))
    take(sent(key))
    take(started(key))
    take(progressed(key, 10))
    take(ended(key))
    requests += 1
  }, 5)
  return [
    { name: 'one request, all its inputs, decision, records encoded', value: one, unit: 'µs', goal: 30 },
    { name: 'journal bytes a request (8,192-token prompt, 128 block keys)', value: bytes / requests, unit: 'bytes' },
    ...liveFigures(),
  ]
}

/** The engine takes an input for its own: each request needs one that nothing else holds. */
const structuredCloneOf = (input: Input): Input => (input.input === undefined ? input : { input: { ...input.input } as NonNullable<Input['input']> })

/** What live requests keep is what is freed when they end: what the prefix index learned of them stays either way. */
const liveFigures = (): Figure[] => {
  const world = quietWorld()
  const keys: number[] = []
  for (let i = 0; i < LIVE; i += 1) {
    world.at += 10
    const { record } = world.engine.step(arrival(i), world.at)
    keys.push(record.position)
    world.engine.step(sent(record.position), world.at)
    if (i % 2 === 0) world.engine.step(started(record.position), world.at)
  }
  const live = world.engine.view.requests.size
  const freed = retained(() => {
    for (const key of keys) world.engine.step(ended(key), world.at)
    return world
  })
  return [{ name: `${live.toLocaleString('en')} live requests, half of them streaming`, value: -freed.bytes / 1e6, unit: 'MB', goal: 150 }]
}

if (import.meta.main) report('One request under pd-epp-config at 128 endpoints', figures())
