/**
 * What telemetry costs one core: 1,000 endpoints report 20 times a second; from report to report the KV-cache usage
 * of half of them changes and each of the two counts of a quarter. Counted are the reports into their slots, the tick, the
 * engine's turn, and the record in bytes.
 * `node test/bench/telemetry/slots.ts [ticks]` prints the share of a core, bytes a tick and GB a day.
 */

import { TelemetrySlots } from '../../../src/actors/telemetry/index.ts'
import type { MetricsReport } from '../../../src/actors/telemetry/index.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../src/core/configuration.ts'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import type { Detector, Plugin, PluginType } from '../../../src/core/contract.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { appendRecord } from '../../../src/journal/record.ts'
import { maxScorePicker } from '../../../src/plugins/picker/max-score-picker/index.ts'
import { singleProfileHandler } from '../../../src/plugins/profile-handler/single-profile-handler/index.ts'
import { emptyEndpointInfo, emptyEngineStarted, Writer } from '../../../src/wire/index.ts'
import type { Input } from '../../../src/wire/index.ts'
import { report } from '../harness.ts'

const ENDPOINTS = 1000
const TICKS_PER_SECOND = 20
const SECONDS_PER_DAY = 86_400
const WARM_UP_TICKS = 400
const ticks = Number(process.argv[2] ?? 4000)

const openDetector: PluginType = {
  type: 'open-detector',
  kinds: ['detector'],
  stability: 'beta',
  create: ({ name }): Plugin & Detector => ({ typedName: { type: 'open-detector', name }, saturation: () => 0 }),
}
const types = new Map([maxScorePicker, singleProfileHandler, openDetector].map((type) => [type.type, type]))
const configuration: CompletedConfiguration = {
  featureGates: {},
  plugins: [...types.keys()].map((type) => ({ name: type, type })),
  profiles: [{ name: 'default', filters: [], scorers: [], picker: 'max-score-picker' }],
  dataLayer: { sources: [] },
  parsers: [],
  saturationDetector: 'open-detector',
  producers: [],
  profileHandler: 'single-profile-handler',
  flowControl: undefined,
  engine: DEFAULT_ENGINE_SETTINGS,
}

/** The same numbers each time it is run (mulberry32). */
const numbers = (state: number) => (): number => {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

const engine = new Engine({ pluginTypes: types, interpreter: 'table' })
const writer = new Writer()
let at = 1_000_000
let bytes = 0
const take = (input: NonNullable<Input['input']>): void => {
  at += 1_000_000 / TICKS_PER_SECOND
  appendRecord(engine.step({ input }, at).record, writer)
  bytes += writer.finish().length
}

take({ kind: 'engineStarted', value: { ...emptyEngineStarted(), configuration: JSON.stringify(configuration), seed: 1n } })
for (let index = 0; index < ENDPOINTS; index += 1) {
  take({ kind: 'endpointJoined', value: { endpoint: { ...emptyEndpointInfo(), id: `default/endpoint-${index}`, address: '10.0.0.1', port: index + 1 } } })
}

const next = numbers(7)
const reports: MetricsReport[] = Array.from({ length: ENDPOINTS }, () => ({ waitingQueueSize: 0, runningRequestsSize: 0, kvCacheUsage: 0 }))
const change = (): void => {
  for (let slot = 0; slot < ENDPOINTS; slot += 1) {
    const { waitingQueueSize = 0, runningRequestsSize = 0, kvCacheUsage = 0 } = reports[slot] as MetricsReport
    reports[slot] = {
      waitingQueueSize: next() < 0.25 ? Math.floor(next() * 64) : waitingQueueSize,
      runningRequestsSize: next() < 0.25 ? Math.floor(next() * 256) : runningRequestsSize,
      kvCacheUsage: next() < 0.5 ? next() : kvCacheUsage,
    }
  }
}

/** Milliseconds that this thread has computed. */
const computedMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const lives = engine.view.fleet
const slots = new TelemetrySlots((slot) => lives.atSlot(slot)?.endpoint.life ?? 0)
const spent = { report: 0, tick: 0, turn: 0 }
const run = (count: number): void => {
  for (let index = 0; index < count; index += 1) {
    change()
    const begun = computedMs()
    for (let slot = 0; slot < ENDPOINTS; slot += 1) slots.report(slot, slot + 1, reports[slot] as MetricsReport)
    const reported = computedMs()
    const tick = slots.tick()
    const ticked = computedMs()
    if (tick === undefined) throw new Error('1000 reports gave no tick')
    take({ kind: 'telemetryTick', value: tick })
    const taken = computedMs()
    spent.report += reported - begun
    spent.tick += ticked - reported
    spent.turn += taken - ticked
  }
}

run(WARM_UP_TICKS)
bytes = 0
Object.assign(spent, { report: 0, tick: 0, turn: 0 })
run(ticks)

const micros = (total: number): number => (total * 1000) / ticks
const total = spent.report + spent.tick + spent.turn
const perTick = bytes / ticks
report(`Telemetry: ${ticks} ticks of ${ENDPOINTS} endpoints, ${TICKS_PER_SECOND} a second`, [
  { name: 'reports into slots', value: micros(spent.report), unit: 'µs a tick' },
  { name: 'tick made', value: micros(spent.tick), unit: 'µs a tick' },
  { name: 'turn and record', value: micros(spent.turn), unit: 'µs a tick' },
  { name: 'share of a core', value: (total / ticks / 1000) * TICKS_PER_SECOND * 100, unit: '%', goal: 20 },
  { name: 'bytes of journal', value: perTick, unit: 'bytes a tick' },
  { name: 'journal', value: (perTick * TICKS_PER_SECOND * SECONDS_PER_DAY) / 1e9, unit: 'GB a day', goal: 30 },
])
