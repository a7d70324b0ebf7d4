import type { Transition } from '../../../machines/interpreter/interpreter.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import { tokensOf } from '../../core/request.ts'
import type { MachineWatch } from '../../engine/context.ts'
import type { ClosedEffect } from '../../engine/effects.ts'
import type { EndpointActor } from '../../engine/endpoint-actor.ts'
import type { Engine, Turn } from '../../engine/engine.ts'
import type { LiveRequest } from '../../engine/live-request.ts'
import type { Decision } from '../../wire/decision.ts'
import type { Input } from '../../wire/input.ts'
import { MARKS, OUTCOMES, STAGES, Timeline } from './timeline.ts'
import type { Spell } from './timeline.ts'
import { endpointsTold, requestTold } from './told.ts'

const ROLE_LABEL = 'llm-d.ai/role'

/** Watches an engine do a journal again, and writes its timeline. */
export class Recorder {
  readonly timeline = new Timeline()
  /** To be given to the engine that is watched. */
  readonly watch: MachineWatch = {
    request: { transition: (actor: LiveRequest, transition) => this.step(0, actor.key, transition) },
    endpoint: { transition: (actor: EndpointActor, transition) => this.endpointStep(actor, transition) },
  }
  private engine: Engine | undefined = undefined
  private at = 0
  private position = 0
  /** Place of a live request's row, and of its open bars. */
  private readonly rows = new Map<number, number>()
  private readonly openBars = new Map<number, number[]>()
  private touched = new Set<Endpoint>()
  private readonly lives = new Map<number, Endpoint>()

  /** Begins with what the engine's state holds already. */
  begin(engine: Engine): void {
    this.engine = engine
    this.at = engine.at
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
    const { records } = this.timeline
    for (let missing = this.position + 1; missing <= engine.position; missing += 1) {
      records.atUs.push(engine.at)
      records.kind.push(records.kinds.of('missing'))
      records.request.push(0)
      records.marks.push(0)
    }
    this.engine = engine
    this.at = engine.at
    this.position = engine.position
    for (const { endpoint } of engine.view.fleet.actors()) {
      this.alive(endpoint)
      this.report(endpoint)
    }
    for (const request of [...this.rows.keys()]) if (!engine.view.requests.has(request)) this.lost(request)
  }

  private lost(request: number): void {
    this.closeBars(request, 0)
    this.openBars.delete(request)
    this.rows.delete(request)
  }

  /** To be called before the engine takes the next record. */
  before(atUs: number): void {
    this.at = Math.max(this.at, atUs)
    this.position += 1
  }

  /** To be called with what came of it, and whether it was what the journal says. */
  after(turn: Turn, diverged: boolean): void {
    const { records } = this.timeline
    const { record } = turn
    const content = record.input?.input
    const about = content === undefined ? 0 : content.kind === 'requestReceived' ? record.position : requestTold(content)
    let marks = diverged ? MARKS.diverged : 0
    if (content?.kind === 'requestReceived') this.arrived(record.position, content.value)
    if (content !== undefined) this.took(content)
    for (const decision of record.decisions) marks |= this.decided(decision)
    for (const effect of turn.effects) {
      if (effect.kind === 'closed') this.closed(effect)
      if (effect.kind === 'expired') marks |= MARKS.expired
    }
    records.atUs.push(record.atUs)
    records.kind.push(records.kinds.of(content?.kind ?? 'unknown'))
    records.request.push(about)
    records.marks.push(marks)
    this.flush()
  }

  private arrived(key: number, { requestId, model, shape }: Extract<NonNullable<Input['input']>, { kind: 'requestReceived' }>['value']): void {
    const tokens = (shape?.prompts ?? []).reduce((sum, prompt) => sum + prompt.tokens, 0)
    this.row(key, requestId, model, this.at, tokens)
  }

  private row(key: number, id: string, model: string, receivedAt: number, tokens: number): number {
    const { requests } = this.timeline
    const row = requests.key.push(key)
    requests.receivedAt.push(receivedAt)
    for (const column of [requests.decidedAt, requests.sentAt, requests.firstByteAt, requests.endedAt]) column.push(NaN)
    requests.outcome.push(0)
    requests.model.push(requests.models.of(model))
    requests.decisionType.push(requests.decisionTypes.of(''))
    requests.lane.push(-1)
    requests.attempts.push(0)
    requests.promptTokens.push(tokens)
    requests.outputTokens.push(0)
    requests.ids.push(id)
    this.rows.set(key, row)
    return row
  }

  private found(request: LiveRequest): void {
    const { requests } = this.timeline
    const row = this.row(request.key, request.id, request.model, request.receivedAt, tokensOf(request))
    requests.attempts.set(row, request.attempt)
    if (request.started) requests.firstByteAt.set(row, request.receivedAt)
    this.hold(request.key, request.attempt)
  }

  private took(content: NonNullable<Input['input']>): void {
    const { requests, bars } = this.timeline
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
    const row = this.rows.get(requestTold(content))
    if (row === undefined) return
    const open = this.openBars.get(requestTold(content)) ?? []
    if (content.kind === 'requestSent') {
      requests.sentAt.set(row, this.at)
      for (const bar of open) bars.sent.set(bar, this.at)
    }
    if (content.kind === 'responseStarted') {
      if (Number.isNaN(requests.firstByteAt.at(row))) requests.firstByteAt.set(row, this.at)
      for (const bar of open) this.started(bar)
    }
    if (content.kind === 'responseEnded') requests.outputTokens.set(row, content.value.usage?.completionTokens ?? 0)
  }

  /** Prefill and encode are over once the response begins. */
  private started(bar: number): void {
    const { bars } = this.timeline
    bars.firstByte.set(bar, this.at)
    if (bars.stage.at(bar) !== 0) bars.to.set(bar, this.at)
  }

  private decided(decision: Decision): number {
    const { requests } = this.timeline
    const row = this.rows.get(decision.request)
    if (row === undefined) return 0
    requests.decidedAt.set(row, this.at)
    requests.attempts.set(row, decision.attempt)
    if (decision.outcome !== 'routed') return MARKS.rejected
    const primary = decision.profiles.find(({ profile }) => profile === decision.primaryProfile)?.picks[0]?.endpoint
    requests.decisionType.set(row, requests.decisionTypes.of(decision.decisionType))
    if (primary !== undefined) requests.lane.set(row, this.timeline.lane(primary))
    this.closeBars(decision.request, 0)
    this.hold(decision.request, decision.attempt)
    return MARKS.routed | (decision.attempt > 1 ? MARKS.retried : 0)
  }

  private hold(request: number, attempt: number): void {
    const { bars } = this.timeline
    const view = this.engine?.view
    const open: number[] = []
    for (const { profile, endpoint } of view?.ledger.assignmentsOf(request) ?? []) {
      const stage = view?.pipeline.handler.stageOf(profile) ?? 'decode'
      open.push(bars.lane.push(this.timeline.lane(endpoint.id)))
      bars.stage.push(STAGES.indexOf(stage))
      bars.request.push(request)
      bars.attempt.push(attempt)
      bars.from.push(this.at)
      for (const column of [bars.sent, bars.firstByte, bars.to]) column.push(NaN)
      bars.outcome.push(0)
      this.touched.add(endpoint)
    }
    if (open.length > 0) this.openBars.set(request, open)
  }

  private closed({ request, outcome, usage }: ClosedEffect): void {
    const { requests } = this.timeline
    const row = this.rows.get(request)
    const number = OUTCOMES.indexOf(outcome)
    if (row !== undefined) {
      requests.endedAt.set(row, this.at)
      requests.outcome.set(row, number)
      if (usage !== undefined) requests.outputTokens.set(row, usage.completionTokens)
    }
    this.closeBars(request, number)
    this.openBars.delete(request)
    this.rows.delete(request)
  }

  private closeBars(request: number, outcome: number): void {
    const { bars, lanes } = this.timeline
    for (const bar of this.openBars.get(request) ?? []) {
      if (Number.isNaN(bars.to.at(bar))) bars.to.set(bar, this.at)
      // A bar that ends while its request goes on was a failed attempt.
      bars.outcome.set(bar, outcome === 0 ? OUTCOMES.indexOf('failed') : outcome)
      const endpoint = this.engine?.view.fleet.get(lanes[bars.lane.at(bar)]?.id ?? '')?.endpoint
      if (endpoint !== undefined) this.touched.add(endpoint)
    }
  }

  private alive(endpoint: Endpoint): void {
    const lane = this.timeline.lanes[this.timeline.lane(endpoint.id, endpoint.labels.get(ROLE_LABEL) ?? '')]
    if (lane === undefined || this.lives.get(endpoint.life) !== undefined) return
    this.lives.set(endpoint.life, endpoint)
    lane.spells.push({ kind: 'alive', from: this.at, to: NaN, incarnation: endpoint.incarnation })
  }

  private open(endpoint: Endpoint, kind: Spell['kind']): void {
    this.alive(endpoint)
    this.timeline.lanes[this.timeline.lane(endpoint.id)]?.spells.push({ kind, from: this.at, to: NaN, incarnation: '' })
  }

  private endpointStep(actor: EndpointActor, transition: Transition): void {
    this.step(1, actor.endpoint.life, transition)
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
    for (const endpoint of this.touched) {
      const load = this.engine?.view.ledger.load(endpoint)
      const lane = this.timeline.lanes[this.timeline.lane(endpoint.id)]
      lane?.loadAt.push(this.at)
      lane?.requests.push(load?.requests ?? 0)
      lane?.tokens.push(load?.tokens ?? 0)
    }
    if (this.touched.size > 0) this.touched = new Set()
  }
}

const SPELLS = [['draining', 'presence.draining'], ['stale', 'freshness.stale'], ['unreachable', 'reachability.unreachable']] as const
