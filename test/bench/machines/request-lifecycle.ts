/**
 * What one request costs in its machine: made, five events (receive, sent, started, progressed, ended), over.
 * `node test/bench/machines/request-lifecycle.ts` prints µs and bytes for the compiled table, for the same
 * interface on XState's actors, and for a bare `createActor`; medians of interleaved rounds. Read the ratios:
 * absolute figures differ between machines.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createActor } from 'xstate'
import { compile } from '../../../machines/interpreter/compile.ts'
import type { ActorRecord, Implementations, Interpreter } from '../../../machines/interpreter/interpreter.ts'
import { createXStateInterpreter } from '../../../machines/interpreter/xstate-actors.ts'
import { namedGuards } from '../../../machines/interpreter/names.ts'
import { REQUEST_ACTIONS, REQUEST_GUARDS, requestMachine } from '../../../machines/request/machine.ts'
import type { RequestAction, RequestDelay, RequestGuard } from '../../../machines/request/machine.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

interface Request extends ActorRecord {
  actions: number
  stages: number
  deadline: number
}

interface Event {
  readonly type: string
}

const STORY: readonly Event[] = ['receive', 'sent', 'started', 'progressed', 'ended'].map((type) => ({ type }))
const ROUNDS = 9

const count = (request: Request): void => {
  request.actions += 1
}
const guards = {
  ...namedGuards(REQUEST_GUARDS),
  isAdmitted: () => true,
  isProduced: () => true,
  picksDecode: (request: Request) => request.stages === 0,
  isRouted: (request: Request) => request.stages > 0,
}
const actions = Object.fromEntries(REQUEST_ACTIONS.map((name) => [name, count])) as Record<RequestAction, typeof count>
const implementations: Implementations<Request, Event, RequestAction, RequestGuard, RequestDelay> = {
  actions: {
    ...actions,
    runStage: (request) => {
      request.actions += 1
      request.stages += 1
    },
  },
  guards,
  schedule: (request, _timer, delayMs) => {
    request.deadline = delayMs
  },
  cancel: (request) => {
    request.deadline = 0
  },
}

const newRequest = (): Request => ({ state: 0, actions: 0, stages: 0, deadline: 0 })

function interpreted(interpreter: Interpreter<Request, Event>): (events: readonly Event[]) => Request {
  return (events) => {
    const request = newRequest()
    interpreter.start(request)
    for (let i = 0; i < events.length; i += 1) interpreter.send(request, events[i] ?? { type: '' })
    if (interpreter.isFinal(request)) interpreter.release(request)
    return request
  }
}

/** `createActor` as one would write it: the machine's names given by `provide`, XState's own timers on a clock that does nothing. */
function bare(): (events: readonly Event[]) => object {
  let current = newRequest()
  const given = <T>(table: Readonly<Record<string, (request: Request, event: Event) => T>>) =>
    Object.fromEntries(
      Object.entries(table).map(([name, act]) => [name, ({ event }: { event: Event }): T => act(current, event)]),
    )
  const machine = requestMachine.provide({ actions: given(implementations.actions), guards: given(guards) })
  const clock = { setTimeout: (): number => 0, clearTimeout: (): void => {} }
  return (events) => {
    current = newRequest()
    const actor = createActor(machine, { clock })
    actor.start()
    for (const event of events) actor.send(event)
    return actor
  }
}

interface Way {
  readonly name: string
  readonly live: (events: readonly Event[]) => object
  /** Requests per round: enough to time, few enough that no garbage collection falls between two readings of the heap. */
  readonly timed: number
  readonly weighed: number
  readonly micros: number[]
  readonly allocated: number[]
  readonly retained: number[]
}

function way(name: string, live: (events: readonly Event[]) => object, timed: number, weighed: number): Way {
  return { name, live, timed, weighed, micros: [], allocated: [], retained: [] }
}

function round(each: Way): void {
  const started = performance.now()
  for (let i = 0; i < each.timed; i += 1) each.live(STORY)
  each.micros.push(((performance.now() - started) * 1_000) / each.timed)
  each.allocated.push(heapGrowth(each.weighed, () => each.live(STORY)))
  // Half-way through its stream, as a live request is for most of its time.
  const kept: object[] = []
  const grown = heapGrowth(each.weighed, () => kept.push(each.live(STORY.slice(0, 3))), collectGarbage)
  each.retained.push(kept.length === each.weighed ? grown : Number.NaN)
}

function heapGrowth(times: number, act: () => unknown, settle: () => void = () => {}): number {
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < times; i += 1) act()
  settle()
  return (process.memoryUsage().heapUsed - before) / times
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

const ways: readonly Way[] = [
  way('table', interpreted(compile(requestMachine, implementations)), 200_000, 10_000),
  way('XState actors, same interface', interpreted(createXStateInterpreter(requestMachine, implementations)), 1_000, 50),
  way('createActor', bare(), 1_000, 50),
]

for (const each of ways) for (let i = 0; i < each.timed / 10; i += 1) each.live(STORY)
for (let i = 0; i < ROUNDS; i += 1) for (const each of ways) round(each)

const [table] = ways
console.log(`node ${process.version}, ${ROUNDS} rounds, per request of ${STORY.length} events, medians`)
console.log('way                              µs      ratio   bytes allocated   bytes retained while live')
for (const each of ways) {
  const micros = median(each.micros)
  const columns = [
    each.name.padEnd(30),
    micros.toFixed(3).padStart(7),
    (micros / median(table?.micros ?? [])).toFixed(0).padStart(7),
    median(each.allocated).toFixed(0).padStart(15),
    median(each.retained).toFixed(0).padStart(20),
  ]
  console.log(columns.join('  '))
}
