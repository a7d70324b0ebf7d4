/**
 * What the engine's thread feels while bases and snapshots are written: the longest turn, and the longest time in which
 * it gave way to nothing else. The follower's thread makes them from its own engine, so it should feel nothing.
 * `node test/bench/engine/longest-turn.ts [--seconds N]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { JournalWriter } from '../../../src/adapters/sqlite/journal-writer.ts'
import { SqliteJournalReader } from '../../../src/adapters/sqlite/journal-reader.ts'
import type { Input } from '../../../src/wire/input.ts'
import { disaggregated } from '../../story/configuration.ts'
import { ended, progressed, sent, started } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'
import { median, report } from '../harness.ts'
import { joinFleet } from './fleets.ts'
import { arrival } from './prompts.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } })
const SECONDS = Number(values.seconds)
const ENDPOINTS = 128
const REQUESTS_PER_SECOND = 400
/** Segments so small that a base is written every second or two. */
const SEGMENT_BYTES = 1_000_000
const SNAPSHOT_EVERY = 5000

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
const path = join(folder, 'journal.sqlite')

/** Milliseconds that this thread has computed; where the system counts in ticks, no finer than these. */
const computed = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const journal = await JournalWriter.open({
  path,
  segments: { bytesMax: SEGMENT_BYTES, ageMaxUs: Number.MAX_SAFE_INTEGER },
  follower: { module: new URL('../../../src/app/follower.ts', import.meta.url), options: { plugins: [] }, snapshots: { everyRecords: SNAPSHOT_EVERY, everyUs: Number.MAX_SAFE_INTEGER } },
})
const world = new World(disaggregated(512))
joinFleet(world, ENDPOINTS)
for (const record of world.records) journal.append(record)

const turns: number[] = []
let longestTurn = 0
let longestHold = 0

const take = (input: Input): number => {
  const begun = performance.now()
  const before = computed()
  const { record } = world.step(input, 0.05)
  journal.append(record)
  world.records.length = 0
  world.effects.length = 0
  turns.push(performance.now() - begun)
  longestTurn = Math.max(longestTurn, computed() - before)
  return record.position
}

const request = (i: number): void => {
  const key = take(arrival(i))
  for (const input of [sent(key), started(key), progressed(key, 10), ended(key)]) take(input)
}

const begun = performance.now()
for (let i = 0; performance.now() - begun < SECONDS * 1000;) {
  const before = computed()
  for (const due = ((performance.now() - begun) / 1000) * REQUESTS_PER_SECOND; i < due && journal.canAccept() && computed() - before < 1; i += 1) {
    // Warming up, the compiler takes its time: that is no stall of a base's.
    if (i === REQUESTS_PER_SECOND) longestTurn = longestHold = 0
    request(i)
  }
  await new Promise((resolve) => setImmediate(resolve))
  longestHold = Math.max(longestHold, computed() - before)
  await new Promise((resolve) => setTimeout(resolve, 1))
}
await journal.close()

const reader = SqliteJournalReader.open(path)
const bases = reader.segments().length - 1
report(`Turns while bases are written: ${SECONDS} s of ${REQUESTS_PER_SECOND} requests a second at ${ENDPOINTS} endpoints`, [
  { name: 'bases written', value: bases, unit: '', goal: 2, atLeast: true },
  { name: 'snapshots kept', value: reader.snapshots().length, unit: '' },
  { name: 'records', value: reader.lastPosition(), unit: '' },
  { name: 'a turn, median', value: median(turns) * 1000, unit: 'µs' },
  { name: 'longest turn by the clock, whatever else the machine did', value: Math.max(...turns.slice(REQUESTS_PER_SECOND * 5)), unit: 'ms' },
  { name: 'longest turn, computed', value: longestTurn, unit: 'ms', goal: 10 },
  { name: 'longest hold of the event loop, computed', value: longestHold, unit: 'ms', goal: 10 },
])
reader.close()
rmSync(folder, { recursive: true, force: true })
