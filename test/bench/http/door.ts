/**
 * What the HTTP front door costs over a bare pass-through that reads and parses the body, both before the same endpoint
 * and under the same clients, each a process of its own, in turns within one run.
 *
 * `node test/bench/http/door.ts [--engine none|real] [--seconds N] [--rounds N]`: without an engine (the default) every
 * request goes to the one endpoint at once, and what is measured is the door; with the real one it is what
 * `signalbox serve` runs, journal included.
 */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { median, report } from '../harness.ts'
import { pathFor, requestBody } from './answers.ts'
import type { AskedAnswer } from './answers.ts'
import type { ProfileLine, Question } from './child.ts'
import type { LoadResult, LoadWork } from './load-process.ts'

const { values } = parseArgs({
  options: { engine: { type: 'string', default: 'none' }, seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '4' } },
})
const SECONDS = Number(values.seconds)
const ROUNDS = Number(values.rounds)
const PROMPT_BYTES = 2048
const RATE = 200
const AT_ONCE = 64
/** The low quantile is what is left when nothing else runs: it tells the door's own share on a busy machine. */
const LEAST = 0.1

interface Target {
  readonly name: 'bare' | 'door'
  readonly origin: string
  readonly child: ChildProcess
}

const spawn = async (file: string, ...args: readonly string[]): Promise<{ child: ChildProcess; hostPort: string }> => {
  const child = fork(new URL(file, import.meta.url), args, { execArgv: ['--disable-warning=ExperimentalWarning'] })
  const [{ port }] = await once(child, 'message') as [{ port: number }]
  return { child, hostPort: `127.0.0.1:${port}` }
}

const ask = async <T>(child: ChildProcess, question: Question | LoadWork): Promise<T> => {
  child.send(question)
  const [answer] = await once(child, 'message') as [T]
  return answer
}

const quantile = (values_: readonly number[], share: number): number => {
  const sorted = [...values_].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

const work = (targets_: readonly Target[], answer: AskedAnswer, load: LoadWork['load'], seconds: number): LoadWork =>
  ({ origins: targets_.map(({ origin }) => origin), path: pathFor(answer), body: requestBody(PROMPT_BYTES, answer.tokens > 0), seconds, load })

/** Makes requests of each target; throws when one failed. */
const measure = async (clients: ChildProcess, of: readonly Target[], answer: AskedAnswer, load: LoadWork['load'], seconds: number): Promise<readonly LoadResult[]> => {
  const results = await ask<readonly LoadResult[]>(clients, work(of, answer, load, seconds))
  for (const { failed } of results) if (failed > 0) throw new Error(`${failed} requests failed`)
  return results
}

const latencies = async (clients: ChildProcess, of: readonly Target[]): Promise<void> => {
  const answer = { tokens: 16, gapMs: 10 }
  await measure(clients, of, answer, { perSecond: RATE }, 2)
  const [bare, door] = await measure(clients, of, answer, { perSecond: RATE }, SECONDS * ROUNDS)
  const figures = (['firstByteMs', 'lastByteMs'] as const).flatMap((when) => [LEAST, 0.5, 0.99].flatMap((share) => {
    const label = `${when === 'firstByteMs' ? 'first byte' : 'last byte'}, p${share * 100}`
    const bareMs = quantile(bare?.[when] ?? [], share)
    return [
      { name: `${label}, bare`, value: bareMs, unit: 'ms' },
      { name: `${label}, door above bare`, value: quantile(door?.[when] ?? [], share) - bareMs, unit: 'ms', ...(share === LEAST ? {} : { goal: 1 }) },
    ]
  }))
  report(`HTTP front door: ${RATE} requests/s, 2 kB prompts, 16 tokens 10 ms apart (load of the machine: ${loadavg()[0]?.toFixed(1)})`, figures)
}

interface Measured {
  readonly perSecond: number[]
  readonly cpuUs: number[]
}

/** Rounds in which the targets take turns; the first round only warms up. */
const inTurns = async (clients: ChildProcess, of: readonly Target[], answer: AskedAnswer): Promise<Map<string, Measured>> => {
  const measured = new Map<string, Measured>(of.map(({ name }) => [name, { perSecond: [], cpuUs: [] }]))
  for (let round = -1; round < ROUNDS; round++) {
    for (const target of round % 2 === 0 ? of : [...of].reverse()) {
      const before = await ask<{ cpuUs: number }>(target.child, { ask: 'cpu' })
      const [result] = await measure(clients, [target], answer, { atOnce: AT_ONCE }, SECONDS)
      const after = await ask<{ cpuUs: number }>(target.child, { ask: 'cpu' })
      if (round < 0 || result === undefined) continue
      measured.get(target.name)?.perSecond.push(result.lastByteMs.length / result.seconds)
      measured.get(target.name)?.cpuUs.push((after.cpuUs - before.cpuUs) / result.lastByteMs.length)
    }
  }
  return measured
}

const saturation = async (clients: ChildProcess, targets: readonly Target[], title: string, answer: AskedAnswer): Promise<void> => {
  const measured = await inTurns(clients, targets, answer)
  const [bare, door] = [measured.get('bare'), measured.get('door')]
  if (bare === undefined || door === undefined) return
  report(`HTTP front door at saturation: ${AT_ONCE} at once, ${title}`, [
    { name: 'bare', value: median(bare.perSecond), unit: 'requests/s' },
    { name: 'door', value: median(door.perSecond), unit: 'requests/s' },
    { name: 'throughput, door of bare', value: median(door.perSecond.map((value, i) => value / (bare.perSecond[i] ?? value))), unit: 'of 1' },
    { name: 'CPU a request, bare', value: median(bare.cpuUs), unit: 'us' },
    { name: 'CPU a request, door', value: median(door.cpuUs), unit: 'us' },
    { name: 'CPU, bare of door', value: median(bare.cpuUs) / median(door.cpuUs), unit: 'of 1' },
  ])
}

const profile = async (clients: ChildProcess, target: Target, title: string, answer: AskedAnswer): Promise<void> => {
  await ask(target.child, { ask: 'profile-start' })
  await measure(clients, [target], answer, { atOnce: AT_ONCE }, SECONDS)
  const { lines } = await ask<{ lines: readonly ProfileLine[] }>(target.child, { ask: 'profile-stop' })
  report(`Where the time of the ${target.name} goes, ${title}`, lines.slice(0, 24).map(({ place, percent }) => ({ name: place, value: percent, unit: '%' })))
}

if (values.engine !== 'none' && values.engine !== 'real') throw new Error('--engine is none or real')
const endpoint = await spawn('endpoint-process.ts')
const bare = await spawn('pass-through-process.ts', endpoint.hostPort)
const door = await spawn(values.engine === 'real' ? 'engine-process.ts' : 'door-process.ts', endpoint.hostPort)
const clients = fork(new URL('load-process.ts', import.meta.url), [], { execArgv: ['--disable-warning=ExperimentalWarning'] })
const targets: readonly Target[] = [
  { name: 'bare', origin: `http://${bare.hostPort}`, child: bare.child },
  { name: 'door', origin: `http://${door.hostPort}`, child: door.child },
]
try {
  await latencies(clients, targets)
  await saturation(clients, targets, 'one small JSON answer', { tokens: 0, gapMs: 0 })
  await saturation(clients, targets, '16 tokens streamed', { tokens: 16, gapMs: 0 })
  for (const target of targets) await profile(clients, target, 'one small JSON answer', { tokens: 0, gapMs: 0 })
} finally {
  for (const child of [endpoint.child, bare.child, door.child, clients]) child.disconnect()
}
