import type { Travel } from '../../replay/travel/travel.ts'
import type { ActorLook, StepRow } from './messages.ts'

/** Steps shown. */
const STEPS_MAX = 60

/** What one actor of a machine is doing at a position, and how often each edge was taken until then. */
export const actorLook = (travel: Travel, machine: 'request' | 'endpoint', actor: number | string, position: number): ActorLook => {
  const engine = travel.seek(position)
  const { view } = engine
  const endpoint = typeof actor === 'string' ? view.fleet.get(actor) : undefined
  const request = typeof actor === 'number' ? view.requests.get(actor) : undefined
  const key = typeof actor === 'number' ? actor : (endpoint?.endpoint.life ?? 0)
  const state = machine === 'request'
    ? (request === undefined ? lastState(travel, 0, key, position) : (view.requestMachine.states[request.state] ?? ''))
    : (endpoint === undefined ? '' : (view.endpointMachine.states[endpoint.state] ?? ''))
  const timer = (request ?? endpoint)?.timer
  const steps = stepsOf(travel, machine === 'request' ? 0 : 1, key, position)
  return {
    known: true,
    label: machine === 'request' ? (request?.id ?? `request ${key}`) : String(actor),
    active: state === '' ? [] : state.split('|'),
    steps: steps.rows,
    taken: steps.rows.filter((step) => step.position === engine.position).map(({ edge }) => edge),
    refusedBy: refusals(travel, machine, key, engine.position),
    timers: timer === undefined || timer.index < 0 ? [] : [{ name: timer.name, inMs: (timer.deadline - engine.at) / 1000 }],
    heat: steps.heat,
  }
}

/** Position of an actor's next transition after a position, or of the one before. */
export const nextStep = (travel: Travel, machine: 'request' | 'endpoint', actor: number | string, position: number, direction: 1 | -1): number | undefined => {
  while (travel.decided < travel.last) travel.decide(Infinity)
  const log = travel.timeline.transitions
  // All lives of an endpoint are one to whoever looks at its id.
  const lives = typeof actor === 'string' ? travel.timeline.lanes.find(({ id }) => id === actor)?.lives : undefined
  const isIt = (key: number): boolean => (typeof actor === 'number' ? key === actor : lives?.has(key) === true)
  const number = machine === 'request' ? 0 : 1
  const first = direction > 0 ? log.position.lastAtMost(position) + 1 : log.position.lastAtMost(position - 1)
  for (let i = first; i >= 0 && i < log.position.length; i += direction) {
    if (log.machine.at(i) === number && isIt(log.actor.at(i))) return log.position.at(i)
  }
  return undefined
}

/** What is said of an actor where the engine is not known. */
export const unknownActor = (machine: 'request' | 'endpoint', actor: number | string): ActorLook => ({
  known: false, label: machine === 'request' ? `request ${actor}` : String(actor), active: [], steps: [], taken: [], refusedBy: [], timers: [], heat: {},
})

/** A request that is over is in its final state for ever. */
const lastState = (travel: Travel, machine: number, actor: number, until: number): string => {
  const log = travel.timeline.transitions
  for (let i = log.position.lastAtMost(until); i >= 0; i -= 1) {
    if (log.machine.at(i) === machine && log.actor.at(i) === actor) return log.states.list[log.to.at(i)] ?? ''
  }
  return ''
}

const stepsOf = (travel: Travel, machine: number, actor: number, until: number): { readonly rows: StepRow[]; readonly heat: Readonly<Record<string, number>> } => {
  const log = travel.timeline.transitions
  const counts = new Float64Array(log.edges.list.length)
  const rows: StepRow[] = []
  const end = log.position.lastAtMost(until)
  for (let i = 0; i <= end; i += 1) if (log.machine.at(i) === machine) counts[log.edge.at(i)] = (counts[log.edge.at(i)] as number) + 1
  for (let i = end; i >= 0 && rows.length < STEPS_MAX; i -= 1) {
    if (log.machine.at(i) !== machine || log.actor.at(i) !== actor) continue
    rows.push({ position: log.position.at(i), edge: log.edges.list[log.edge.at(i)] ?? '', from: log.states.list[log.from.at(i)] ?? '', to: log.states.list[log.to.at(i)] ?? '' })
  }
  const heat: Record<string, number> = {}
  log.edges.list.forEach((edge, i) => {
    if ((counts[i] as number) > 0) heat[edge] = counts[i] as number
  })
  return { rows, heat }
}

/** The guards that said no to this actor while the record at the position was taken. */
const refusals = (travel: Travel, machine: 'request' | 'endpoint', key: number, position: number): string[] =>
  [...new Set(travel.refusalsAt(position).filter((each) => each.machine === machine && each.actor === key).map(({ guard }) => guard))]
