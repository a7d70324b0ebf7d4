import type { Timeline } from '../timeline/timeline.ts'

/** An event of Stately Inspector's protocol; `createdAt` is milliseconds since the epoch, as text. */
export type InspectionEvent =
  | { readonly type: '@xstate.actor'; readonly sessionId: string; readonly rootId: string; readonly createdAt: string; readonly name: string; readonly snapshot: { readonly value: unknown; readonly status: string } }
  | { readonly type: '@xstate.event'; readonly sessionId: string; readonly rootId: string; readonly createdAt: string; readonly event: { readonly type: string }; readonly sourceId: undefined }
  | { readonly type: '@xstate.snapshot'; readonly sessionId: string; readonly rootId: string; readonly createdAt: string; readonly event: { readonly type: string }; readonly snapshot: { readonly value: unknown; readonly status: string } }

const MACHINES = ['request', 'endpoint'] as const
const FINAL: ReadonlySet<string> = new Set(['completed', 'rejected', 'failed', 'aborted', 'expired'])

/** The steps of the machines from one position to another, as Stately Inspector is told of them. */
export const inspectionEvents = (timeline: Timeline, from: number, to: number): InspectionEvent[] => {
  const { transitions: log, records } = timeline
  const events: InspectionEvent[] = []
  const seen = new Set<string>()
  for (let i = 0; i < log.position.length; i += 1) {
    const position = log.position.at(i)
    if (position < from || position > to) continue
    const machine = MACHINES[log.machine.at(i) as 0 | 1]
    const sessionId = `${machine}:${log.actor.at(i)}`
    const createdAt = String(Math.floor(records.atUs.at(position - records.first) / 1000))
    const about = { sessionId, rootId: sessionId, createdAt }
    if (!seen.has(sessionId)) {
      seen.add(sessionId)
      events.push({ type: '@xstate.actor', ...about, name: sessionId, snapshot: snapshotOf(log.states.list[log.from.at(i)] ?? '') })
    }
    const event = { type: eventOf(log.edges.list[log.edge.at(i)] ?? '') }
    events.push({ type: '@xstate.event', ...about, event, sourceId: undefined })
    events.push({ type: '@xstate.snapshot', ...about, event, snapshot: snapshotOf(log.states.list[log.to.at(i)] ?? '') })
  }
  return events
}

/** The event in an edge's id, `<source>:<event>:<index>`; an `always` has none. */
const eventOf = (edge: string): string => edge.split(':')[1] || 'always'

const snapshotOf = (state: string): { value: unknown; status: string } => ({ value: stateValue(state), status: FINAL.has(state) ? 'done' : 'active' })

/** Paths of innermost states, joined by "|", as XState's nested value. */
export const stateValue = (state: string): unknown => {
  const tree: Tree = new Map()
  for (const path of state.split('|')) {
    let at = tree
    for (const key of path.split('.')) {
      const next: Tree = at.get(key) ?? new Map()
      at.set(key, next)
      at = next
    }
  }
  return valueOf(tree)
}

interface Tree extends Map<string, Tree> {}

const valueOf = (tree: Tree): unknown => {
  const [only] = tree
  if (only !== undefined && tree.size === 1 && only[1].size === 0) return only[0]
  return Object.fromEntries([...tree].map(([key, below]) => [key, below.size === 0 ? {} : valueOf(below)]))
}
