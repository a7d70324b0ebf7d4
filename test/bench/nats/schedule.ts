/**
 * The schedule service against a bare echo service, in the same run: rate and time of an answer at 64 in flight, and time
 * at an open load that neither is kept busy by.
 *
 * `node test/bench/nats/schedule.ts`: starts a nats-server, an engine and an echo service as processes of their own.
 */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { emptyRequestReceived, encodeScheduleRequest, toBytes } from '../../../src/wire/index.ts'
import { CONFIGURATION, NatsWorld } from '../../integration/nats/engine-on-nats.ts'
import { flagsIn, MAIN, temporaryFolder } from '../../story/server.ts'
import { median, report } from '../harness.ts'

const IN_FLIGHT = 64
const ROUND_MS = 2000
const ROUNDS = 5
/** Until the engine's code is compiled, and requests expire as fast as they come. */
const WARM_UP_ROUNDS = 4
const OPEN_LOAD_PER_S = 1000
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

const data = toBytes(encodeScheduleRequest, { requestId: '', request: { kind: 'received', value: { ...emptyRequestReceived(), model: 'sim-model', api: 'chat' } } })

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

/** Median time of an answer when so many are asked for each second, whether or not others were answered. */
const openLoad = async (subject: string): Promise<number> => {
  const waits: number[] = []
  const asked: Promise<unknown>[] = []
  const since = performance.now()
  for (let n = 0; n < (OPEN_LOAD_PER_S * ROUND_MS) / 1000; n++) {
    const due = since + (n * 1000) / OPEN_LOAD_PER_S
    while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1))
    const at = performance.now()
    asked.push(connection.request(subject, data, { timeout: 10_000 }).then(() => waits.push(performance.now() - at)))
  }
  await Promise.all(asked)
  return median(waits)
}

/** Microseconds of processor time that the process has had, all its threads together. */
const processorUs = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}
/** Linux counts a process's time in hundredths of a second. */
const TICK_US = 10_000

const subject = 'signalbox.v1.default.schedule'
for (let tries = 0; ; tries++) {
  const { headers } = await connection.request(subject, data, { timeout: 10_000 })
  if (headers?.has('Nats-Service-Error-Code') !== true) break
  if (tries > 100) throw new Error(headers.get('Nats-Service-Error'))
  await new Promise((resolve) => setTimeout(resolve, 100))
}
await round('bench.echo')
for (let n = 0; n < WARM_UP_ROUNDS; n++) await round(subject)
const rounds: { readonly own: Awaited<ReturnType<typeof round>>; readonly echo: Awaited<ReturnType<typeof round>>; readonly costUs: number; readonly openMs: number }[] = []
const pid = children[0]?.pid ?? 0
for (let n = 0; n < ROUNDS; n++) {
  const before = processorUs(pid)
  const own = await round(subject)
  const costUs = (processorUs(pid) - before) / (own.rate * (ROUND_MS / 1000))
  rounds.push({ own, costUs, echo: await round('bench.echo'), openMs: (await openLoad(subject)) - (await openLoad('bench.echo')) })
}

report(`schedule on NATS, ${ENDPOINTS} endpoints, ${IN_FLIGHT} in flight, journal on disk, no reports of ends`, [
  { name: 'schedule', value: median(rounds.map(({ own }) => own.rate)), unit: 'requests/s' },
  { name: 'echo', value: median(rounds.map(({ echo }) => echo.rate)), unit: 'requests/s' },
  { name: 'schedule to echo', value: median(rounds.map(({ own, echo }) => own.rate / echo.rate)), unit: '', goal: 0.5, atLeast: true },
  { name: 'p50 of schedule above that of echo', value: median(rounds.map(({ own, echo }) => own.p50 - echo.p50)), unit: 'ms', goal: 1 },
  { name: `the same at ${OPEN_LOAD_PER_S} requests/s`, value: median(rounds.map(({ openMs }) => openMs)), unit: 'ms', goal: 1 },
  { name: 'processor time of one, all threads of the engine', value: median(rounds.map(({ costUs }) => costUs)), unit: 'us' },
])
for (const child of children) child.kill('SIGKILL')
await world.close()
folder.remove()
