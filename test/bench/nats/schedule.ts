/**
 * The schedule service against a bare echo service: rate and time of an answer at 64 in flight, in the same run.
 *
 * `node test/bench/nats/schedule.ts`: starts a nats-server, an engine and an echo service as processes of their own.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { emptyRequestReceived, encodeScheduleRequest, toBytes } from '../../../src/wire/index.ts'
import { CONFIGURATION, NatsWorld } from '../../integration/nats/engine-on-nats.ts'
import { flagsIn, MAIN, temporaryFolder } from '../../story/server.ts'
import { median, report } from '../harness.ts'

const IN_FLIGHT = 64
const ROUND_MS = 2000
const ROUNDS = 3
const ENDPOINTS = 16

const world = await NatsWorld.start()
const folder = temporaryFolder()
const started = async (args: readonly string[], word: string): Promise<ChildProcess> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(word)) break
  return child
}
const flags = [...flagsIn(folder.path, { nats: world.server.url, pool: 'default', 'log-level': 'error', 'timeout-sent': '2s' })].flatMap(([name, value]) => [`--${name}`, value])
const children = [
  await started([MAIN, 'serve', '--config', CONFIGURATION, ...flags], 'serving on'),
  await started([fileURLToPath(new URL('./echo-process.ts', import.meta.url)), world.server.url, 'bench.echo'], 'ready'),
]
for (let n = 0; n < ENDPOINTS; n++) await world.agent(`default/e${n}`)
const { connection } = await world.server.link()

const data = toBytes(encodeScheduleRequest, { requestId: '', request: { kind: 'received', value: { ...emptyRequestReceived(), model: 'sim-model', api: 'chat-completions' } } })

/** Answers a second, and the median time of one, in milliseconds. */
const round = async (subject: string): Promise<{ readonly rate: number; readonly p50: number }> => {
  const waits: number[] = []
  const since = performance.now()
  const end = since + ROUND_MS
  const ask = async (): Promise<void> => {
    for (let at = performance.now(); at < end; at = performance.now()) {
      const { headers } = await connection.request(subject, data, { timeout: 10_000 })
      if (headers?.has('Nats-Service-Error-Code') === true) throw new Error(headers.get('Nats-Service-Error'))
      waits.push(performance.now() - at)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask))
  return { rate: (waits.length / (performance.now() - since)) * 1000, p50: median(waits) }
}

const subject = 'signalbox.v1.default.schedule'
for (let tries = 0; ; tries++) {
  const { headers } = await connection.request(subject, data, { timeout: 10_000 })
  if (headers?.has('Nats-Service-Error-Code') !== true) break
  if (tries > 100) throw new Error(headers.get('Nats-Service-Error'))
  await new Promise((resolve) => setTimeout(resolve, 100))
}
await round(subject)
await round('bench.echo')
const rounds: { readonly own: Awaited<ReturnType<typeof round>>; readonly echo: Awaited<ReturnType<typeof round>> }[] = []
for (let n = 0; n < ROUNDS; n++) rounds.push({ own: await round(subject), echo: await round('bench.echo') })

report(`schedule on NATS, ${ENDPOINTS} endpoints, ${IN_FLIGHT} in flight, journal on disk, no reports of ends`, [
  { name: 'schedule', value: median(rounds.map(({ own }) => own.rate)), unit: 'requests/s' },
  { name: 'echo', value: median(rounds.map(({ echo }) => echo.rate)), unit: 'requests/s' },
  { name: 'schedule to echo', value: median(rounds.map(({ own, echo }) => own.rate / echo.rate)), unit: '', goal: 0.5, atLeast: true },
  { name: 'p50 of schedule above that of echo', value: median(rounds.map(({ own, echo }) => own.p50 - echo.p50)), unit: 'ms', goal: 1 },
])
for (const child of children) child.kill('SIGKILL')
await world.close()
folder.remove()
