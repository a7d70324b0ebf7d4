import type { StateAt } from '../../journal/state-message.ts'
import type { Decision } from '../../wire/decision.ts'
import type { EndpointInfo } from '../../wire/endpoint.ts'
import type { EngineStarted, Input } from '../../wire/input.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { fromBytes } from '../../wire/runtime.ts'
import { decodeEngineState } from '../../wire/state.ts'
import { RequestRows } from './request-rows.ts'
import { MARKS, ROLE_LABEL, Timeline } from './timeline.ts'
import type { Spell } from './timeline.ts'
import { requestTold } from './told.ts'

type Content = NonNullable<Input['input']>

/**
 * A journal's story as far as its records tell it, before anything is decided again: requests, where they went, and the
 * lives of endpoints. What only the engine knows is not in it: steps of machines, reported attributes, load, and requests
 * whose end is a timer's.
 */
export class Sketch {
  readonly timeline = new Timeline()
  /** How the engine that wrote the last record was started. */
  started: EngineStarted | undefined = undefined
  private readonly requests = new RequestRows(this.timeline)
  private readonly proxied = new Set<number>()
  private position: number

  constructor(start: StateAt) {
    this.position = start.position
    this.requests.at = start.atUs
    this.timeline.records.first = start.position + 1
    if (start.position > 0) this.begin(start)
  }

  take({ position, atUs, input, decisions }: JournalRecord): void {
    const content = input?.input
    const { requests, timeline: { records } } = this
    requests.at = Math.max(requests.at, atUs)
    this.position = position
    if (content?.kind === 'requestReceived') {
      requests.arrived(position, content.value)
      if (content.value.proxied) this.proxied.add(position)
    }
    if (content !== undefined) this.took(content)
    let marks = 0
    for (const decision of decisions) marks |= this.decided(decision)
    if (content !== undefined) this.over(content, decisions)
    records.atUs.push(requests.at)
    records.kind.push(records.kinds.of(content?.kind ?? 'unknown'))
    records.request.push(content === undefined ? 0 : content.kind === 'requestReceived' ? position : requestTold(content))
    records.marks.push(marks)
    // Nobody reads load here.
    requests.touched.clear()
  }

  /** The journal lost records: it goes on in the state that it holds after them. */
  skip(state: StateAt): void {
    this.requests.at = Math.max(this.requests.at, state.atUs)
    this.timeline.missing(this.position + 1, state.position, this.requests.at)
    this.position = state.position
    const { requests } = fromBytes(decodeEngineState, state.state)
    const live = new Set(requests.map(({ key }) => key))
    for (const request of this.requests.live()) if (!live.has(request)) this.requests.lost(request)
  }

  /** What the state holds from which the journal begins. */
  private begin({ state }: StateAt): void {
    const { endpoints, requests, started } = fromBytes(decodeEngineState, state)
    this.started = started
    for (const { endpoint } of endpoints) if (endpoint !== undefined) this.alive(endpoint)
    for (const { key, received, receivedAtUs, attempt, started, assignments } of requests.toSorted((a, b) => a.key - b.key)) {
      if (received === undefined) continue
      this.requests.arrived(key, received, receivedAtUs)
      this.requests.found(key, attempt, started)
      this.requests.hold(key, attempt, assignments)
      if (received.proxied) this.proxied.add(key)
    }
    this.requests.touched.clear()
  }

  private took(content: Content): void {
    switch (content.kind) {
      case 'engineStarted':
        this.started = content.value
        return
      case 'endpointJoined':
      case 'endpointUpdated':
        if (content.value.endpoint !== undefined) this.alive(content.value.endpoint)
        return
      case 'endpointDraining':
        this.spell(content.value.endpoint, 'draining', '')
        return
      case 'endpointLeft':
        for (const spell of this.spells(content.value.endpoint)) if (Number.isNaN(spell.to)) spell.to = this.requests.at
        return
      default:
        this.requests.told(content)
    }
  }

  private decided(decision: Decision): number {
    const { request, attempt, outcome, profiles } = decision
    const marks = this.requests.decided(decision)
    if ((marks & MARKS.routed) !== 0) {
      this.requests.hold(request, attempt, profiles.flatMap(({ stage, picks }) => (picks[0] === undefined ? [] : [{ stage, endpoint: picks[0].endpoint }])))
    }
    if ((marks & MARKS.rejected) !== 0) this.close(request, outcome === 'failed' ? 'failed' : 'rejected', undefined)
    return marks
  }

  /** Requests that an input ends by itself. */
  private over(content: Content, decisions: readonly Decision[]): void {
    switch (content.kind) {
      case 'engineStarted':
        // Their connections died with the process.
        for (const request of [...this.proxied]) this.close(request, 'failed', undefined)
        return
      case 'responseEnded':
        if (content.value.attempt === this.requests.attemptOf(content.value.request)) this.close(content.value.request, 'completed', content.value.usage?.completionTokens)
        return
      case 'requestAborted':
        if (!decisions.some(({ request }) => request === content.value.request)) this.close(content.value.request, 'aborted', undefined)
        return
      default:
    }
  }

  private close(request: number, outcome: 'completed' | 'failed' | 'rejected' | 'aborted', outputTokens: number | undefined): void {
    if (this.requests.attemptOf(request) !== undefined) this.requests.closed(request, outcome, outputTokens)
    this.proxied.delete(request)
  }

  private alive({ id, incarnation, labels }: EndpointInfo): void {
    this.timeline.lane(id, labels.find(({ name }) => name === ROLE_LABEL)?.value ?? '')
    const open = this.spells(id).find(({ kind, to }) => kind === 'alive' && Number.isNaN(to))
    if (open?.incarnation === incarnation) return
    for (const spell of this.spells(id)) if (Number.isNaN(spell.to)) spell.to = this.requests.at
    this.spell(id, 'alive', incarnation)
  }

  private spell(id: string, kind: Spell['kind'], incarnation: string): void {
    this.spells(id).push({ kind, from: this.requests.at, to: NaN, incarnation })
  }

  private spells(id: string): Spell[] {
    return this.timeline.lanes[this.timeline.lane(id)]?.spells ?? []
  }
}
