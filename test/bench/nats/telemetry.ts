/**
 * Telemetry through NATS into the attributes of 1,000 endpoints: events a second, and what of a core they cost.
 *
 * `node test/bench/nats/telemetry.ts`: starts a nats-server and a publisher as processes of their own.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { NatsWorld, rowsOf } from '../../integration/nats/engine-on-nats.ts'
import { report } from '../harness.ts'

/** Above the goal, so that the publisher's own pace is not what is measured. */
const RATE = 120_000
const LOAD_MS = 5000

const world = await NatsWorld.start()
const engine = await world.engine({ 'log-level': 'error', 'nats-endpoint-timeout': '10m' })
const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fileURLToPath(new URL('./telemetry-process.ts', import.meta.url)), world.server.url, String(RATE), String(LOAD_MS)], { stdio: ['pipe', 'pipe', 'inherit'] })
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
await lines.next()
while ((await rowsOf(engine)).length < 1000) await new Promise((resolve) => setTimeout(resolve, 50))

const counted = async (name: string): Promise<number> => {
  const text = await (await fetch(`${engine.adminUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? NaN)
}
const before = await counted('signalbox_telemetry_reports_total')
const cpu = process.threadCpuUsage()
const since = performance.now()
child.stdin.write('go\n')
const sent = Number(String((await lines.next()).value).replace('sent ', ''))
const seconds = (performance.now() - since) / 1000
const { user, system } = process.threadCpuUsage(cpu)
const reports = (await counted('signalbox_telemetry_reports_total')) - before

report(`telemetry through NATS, 1,000 endpoints, ${RATE} events/s offered for ${LOAD_MS / 1000} s`, [
  { name: 'sent', value: sent / seconds, unit: 'events/s' },
  { name: 'taken', value: reports / seconds, unit: 'events/s', goal: 100_000, atLeast: true },
  { name: 'share of a core', value: (user + system) / 1e6 / seconds, unit: '', goal: 1 },
  { name: 'cost of one', value: (user + system) / reports, unit: 'us' },
  { name: 'superseded before a turn took them', value: (100 * (await counted('signalbox_telemetry_superseded_total'))) / reports, unit: '%' },
])
await world.close()
