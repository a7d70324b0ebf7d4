import type { Transition } from '../../../machines/interpreter/interpreter.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import type { MachineWatch } from '../../engine/context.ts'
import type { EndpointActor } from '../../engine/endpoint-actor.ts'
import type { Engine, Turn } from '../../engine/engine.ts'
import type { LiveRequest } from '../../engine/live-request.ts'
import type { Decision } from '../../wire/decision.ts'
import type { Input } from '../../wire/input.ts'
import { RequestRows } from './request-rows.ts'
import { MARKS, ROLE_LABEL, Timeline } from './timeline.ts'
import type { Spell } from './timeline.ts'
import { endpointsTold, requestTold } from './told.ts'

/** Watches an engine do a journal again, and writes its timeline. */
export class Recorder {
  readonly timeline = new Timeline()
  /** To be given to the engine that is watched. */
  readonly watch: MachineWatch = {
    request: { transition: (actor: LiveRequest, transition) => this.step(0, actor.key, transition) },
    endpoint: { transition: (actor: EndpointActor, transition) => this.endpointStep(actor, transition) },
  }
  private engine: Engine | undefined = undefined
  private position = 0
  private readonly requests = new RequestRows(this.timeline)
  private readonly lives = new Map<number, Endpoint>()

  /** Begins with what the engine's state holds already. */
  begin(engine: Engine): void {
    this.engine = engine
    this.requests.at = engine.at
    this.position = engine.position
    this.timeline.records.first = engine.position + 1
    for (const { endpoint, state } of engine.view.fleet.actors()) {
      this.alive(endpoint)
      for (const [kind, path] of SPELLS) {
        if ((engine.view.endpointMachine.states[state] ?? '').split('|').includes(path)) this.open(endpoint, kind)
      }
      this.report(endpoint)
    }
    for (const request of [...engine.view.requests.values()].sort((a, b) => a.key - b.key)) this.found(request)
    this.flush()
  }

  /** The journal lost records: it goes on with an engine in the state that the journal holds after them. */
  skip(engine: Engine): void {
    this.timeline.missing(this.position + 1, engine.position, engine.at)
    this.engine = engine
    this.requests.at = engine.at
    this.position = engine.position
    for (const { endpoint } of engine.view.fleet.actors()) {
      this.alive(endpoint)
      this.report(endpoint)
    }
    for (const request of this.requests.live()) if (!engine.view.requests.has(request)) this.requests.lost(request)
  }

  /** To be called before the engine takes the next record. */
  before(atUs: number): void {
    this.requests.at = Math.max(this.at, atUs)
    this.position += 1
  }

  /** To be called with what came of it, and whether it was what the journal says. */
  after(turn: Turn, diverged: boolean): void {
    const { records } = this.timeline
    const { record } = turn
    const content = record.input?.input
    const about = content === undefined ? 0 : content.kind === 'requestReceived' ? record.position : requestTold(content)
    let marks = diverged ? MARKS.diverged : 0
    if (content?.kind === 'requestReceived') this.requests.arrived(record.position, content.value)
    if (content !== undefined) this.took(content)
    for (const decision of record.decisions) marks |= this.decided(decision)
    for (const effect of turn.effects) {
      if (effect.kind === 'closed') this.requests.closed(effect.request, effect.outcome, effect.usage?.completionTokens)
      if (effect.kind === 'expired') marks |= MARKS.expired
    }
    records.atUs.push(record.atUs)
    records.kind.push(records.kinds.of(content?.kind ?? 'unknown'))
    records.request.push(about)
    records.marks.push(marks)
    this.flush()
  }

  private took(content: NonNullable<Input['input']>): void {
    if (content.kind === 'telemetryTick') {
      for (const slot of endpointsTold(content.value)) {
        const actor = this.engine?.view.fleet.atSlot(slot)
        if (actor !== undefined) this.report(actor.endpoint)
      }
    }
    if (content.kind === 'endpointJoined' || content.kind === 'endpointUpdated') {
      const actor = this.engine?.view.fleet.get(content.value.endpoint?.id ?? '')
      if (actor !== undefined) this.alive(actor.endpoint)
    }
    this.requests.told(content)
  }

  private decided(decision: Decision): number {
    const marks = this.requests.decided(decision)
    if ((marks & MARKS.routed) !== 0) this.hold(decision.request, decision.attempt)
    return marks
  }

  private found({ key, id, model, shape, receivedAt, attempt, started }: LiveRequest): void {
    this.requests.arrived(key, { requestId: id, model, shape }, receivedAt)
    this.requests.found(key, attempt, started)
    this.hold(key, attempt)
  }

  private hold(request: number, attempt: number): void {
    const view = this.engine?.view
    this.requests.hold(request, attempt, (view?.ledger.assignmentsOf(request) ?? []).map(({ profile, endpoint }) => ({
      stage: view?.pipeline.handler.stageOf(profile) ?? 'decode', endpoint: endpoint.id,
    })))
  }

  private alive(endpoint: Endpoint): void {
    const lane = this.timeline.lanes[this.timeline.lane(endpoint.id, endpoint.labels.get(ROLE_LABEL) ?? '')]
    if (lane === undefined || this.lives.get(endpoint.life) !== undefined) return
    this.lives.set(endpoint.life, endpoint)
    lane.lives.add(endpoint.life)
    lane.spells.push({ kind: 'alive', from: this.at, to: NaN, incarnation: endpoint.incarnation })
  }

  private open(endpoint: Endpoint, kind: Spell['kind']): void {
    this.alive(endpoint)
    this.timeline.lanes[this.timeline.lane(endpoint.id)]?.spells.push({ kind, from: this.at, to: NaN, incarnation: '' })
  }

  private endpointStep(actor: EndpointActor, transition: Transition): void {
    this.step(1, actor.endpoint.life, transition)
    // Most steps are taken in place: an endpoint was heard of again.
    if (transition.from === transition.to) return
    const before = transition.from.split('|')
    const now = transition.to.split('|')
    for (const [kind, path] of SPELLS) {
      if (now.includes(path) && !before.includes(path)) this.open(actor.endpoint, kind)
      if (before.includes(path) && !now.includes(path)) this.end(actor.endpoint, [kind])
    }
    if (now.includes('presence.left')) {
      this.end(actor.endpoint, ['alive', 'draining', 'stale', 'unreachable'])
      this.lives.delete(actor.endpoint.life)
    }
  }

  private end(endpoint: Endpoint, kinds: readonly Spell['kind'][]): void {
    const spells = this.timeline.lanes[this.timeline.lane(endpoint.id)]?.spells ?? []
    for (const spell of spells) if (Number.isNaN(spell.to) && kinds.includes(spell.kind)) spell.to = this.at
  }

  private step(machine: 0 | 1, actor: number, { from, to, edges }: Transition): void {
    const log = this.timeline.transitions
    for (const { id } of edges) {
      log.position.push(this.position)
      log.machine.push(machine)
      log.actor.push(actor)
      log.edge.push(log.edges.of(id))
      log.from.push(log.states.of(from))
      log.to.push(log.states.of(to))
    }
  }

  private report(endpoint: Endpoint): void {
    const lane = this.timeline.lanes[this.timeline.lane(endpoint.id)]
    lane?.reportedAt.push(this.at)
    lane?.waiting.push(endpoint.waitingQueueSize)
    lane?.running.push(endpoint.runningRequestsSize)
    lane?.kvCache.push(endpoint.kvCacheUsage)
  }

  /** Notes the load of the endpoints whose load may have changed. */
  private flush(): void {
    const { touched } = this.requests
    if (touched.size === 0) return
    for (const number of touched) {
      const lane = this.timeline.lanes[number]
      const endpoint = this.engine?.view.fleet.get(lane?.id ?? '')?.endpoint
      const load = endpoint === undefined ? undefined : this.engine?.view.ledger.load(endpoint)
      lane?.loadAt.push(this.at)
      lane?.requests.push(load?.requests ?? 0)
      lane?.tokens.push(load?.tokens ?? 0)
    }
    touched.clear()
  }

  private get at(): number {
    return this.requests.at
  }
}

const SPELLS = [['draining', 'presence.draining'], ['stale', 'freshness.stale'], ['unreachable', 'reachability.unreachable']] as const
