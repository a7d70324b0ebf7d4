import type { Registry } from 'prom-client'
import { MICROS_PER_S } from '../../core/instant.ts'
import { splitHostPort } from '../../core/address.ts'
import type { Decision } from '../../wire/decision.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { SCHEDULING_SECONDS, TURN_SECONDS } from './buckets.ts'
import { CounterFamily, HistogramFamily } from './family.ts'
import type { HistogramCell, NumberCell } from './family.ts'
import { PREFIX } from './observations.ts'
import type { Folding } from './observations.ts'
import type { MeasuredEffect } from './request-measures.ts'

/** Endpoints whose last cell is held. */
const TARGETS_MAX = 10_000

type Target = Extract<MeasuredEffect, { kind: 'routed' }>['endpoint']

/** Counts turns, decisions and where requests went. */
export class TurnMeasures {
  private readonly folding: Folding
  private readonly turnSeconds: HistogramCell
  private readonly schedulingSeconds: HistogramCell
  private readonly attempts: CounterFamily
  private readonly records: CounterFamily
  private readonly lastDecided: LastCell
  private readonly lastClosed: LastCell
  private readonly byInput = new Map<string, NumberCell>()
  private readonly lastByTarget = new Map<string, { readonly hostPort: string; readonly model: string; readonly cell: NumberCell | undefined }>()

  constructor(registry: Registry, folding: Folding) {
    this.folding = folding
    this.turnSeconds = new HistogramFamily({ name: 'signalbox_turn_duration_seconds', help: 'Time that the engine took for one input.', labels: [] }, TURN_SECONDS).register(registry).cell()
    this.schedulingSeconds = new HistogramFamily(
      { name: `${PREFIX}scheduler_e2e_duration_seconds`, help: '[ALPHA] Time of a turn that decided on a request.', labels: [] },
      SCHEDULING_SECONDS,
    ).register(registry).cell()
    this.attempts = new CounterFamily({
      name: `${PREFIX}scheduler_attempts_total`,
      help: '[ALPHA] Attempts to schedule a request, and where it went.',
      labels: ['status', 'target_model_name', 'endpoint_name', 'namespace', 'port'],
    }).register(registry)
    this.records = new CounterFamily({ name: 'signalbox_records_total', help: 'Inputs taken, by their kind.', labels: ['input'] }).register(registry)
    const decisions = new CounterFamily({ name: 'signalbox_decisions_total', help: 'Decisions, by primary profile, outcome and reason.', labels: ['profile', 'outcome', 'reason'] }).register(registry)
    this.lastDecided = new LastCell((profile, outcome, reason) => decisions.find([profile, outcome, reason]))
    const closed = new CounterFamily({ name: 'signalbox_requests_closed_total', help: 'Requests that are over, by outcome and cause.', labels: ['outcome', 'cause'] }).register(registry)
    this.lastClosed = new LastCell((outcome, cause) => closed.find([outcome, cause]))
  }

  record(record: JournalRecord, tookMicros: number): void {
    const kind = record.input?.input?.kind ?? ''
    let cell = this.byInput.get(kind)
    if (cell === undefined) {
      cell = this.records.cell(kebab(kind))
      this.byInput.set(kind, cell)
    }
    cell.add()
    this.turnSeconds.observe(tookMicros / MICROS_PER_S)
    if (record.decisions.length === 0) return
    this.schedulingSeconds.observe(tookMicros / MICROS_PER_S)
    for (const decision of record.decisions) this.decide(decision)
  }

  effect(effect: MeasuredEffect): void {
    if (effect.kind === 'closed') this.lastClosed.of(effect.outcome, effect.cause, '')?.add()
    if (effect.kind !== 'routed') return
    this.targetCell(effect.endpoint, effect.targetModel)?.add()
  }

  /** The cell of an endpoint is found again without making its labels: most requests of one ask for the same model. */
  private targetCell({ id, hostPort }: Target, model: string): NumberCell | undefined {
    const last = this.lastByTarget.get(id)
    if (last !== undefined && last.hostPort === hostPort && last.model === model) return last.cell
    const slash = id.indexOf('/')
    const cell = this.attempts.find(['success', this.folding.models.fold(model), id.slice(slash + 1), id.slice(0, Math.max(0, slash)), splitHostPort(hostPort).port ?? ''])
    if (this.lastByTarget.size >= TARGETS_MAX) this.lastByTarget.clear()
    this.lastByTarget.set(id, { hostPort, model, cell })
    return cell
  }

  private decide({ primaryProfile, outcome, rejection }: Decision): void {
    this.lastDecided.of(primaryProfile, outcome, rejection === undefined ? '' : rejection.reason || rejection.code)?.add()
    if (outcome !== 'routed') this.attempts.find(['failure', '', '', '', ''])?.add()
  }
}

/** A cell by three labels. Most turns are like the one before, and making the key of a series costs more than counting. */
class LastCell {
  private readonly find: (a: string, b: string, c: string) => NumberCell | undefined
  private last: { readonly a: string; readonly b: string; readonly c: string; readonly cell: NumberCell } | undefined

  constructor(find: (a: string, b: string, c: string) => NumberCell | undefined) {
    this.find = find
  }

  of(a: string, b: string, c: string): NumberCell | undefined {
    const { last } = this
    if (last !== undefined && last.a === a && last.b === b && last.c === c) return last.cell
    const cell = this.find(a, b, c)
    if (cell !== undefined) this.last = { a, b, c, cell }
    return cell
  }
}

/** As the journal names its records: "request-received". */
const kebab = (kind: string): string => kind.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
