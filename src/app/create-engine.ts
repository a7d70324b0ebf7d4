import { randomBytes, randomUUID } from 'node:crypto'
import { Subject } from 'rxjs'
import { SystemClock } from '../adapters/clock/index.ts'
import type { Reply } from '../actors/request-desk.ts'
import { telemetryTicks, TelemetrySlots } from '../actors/telemetry/index.ts'
import type { MetricsReport, SlotReport } from '../actors/telemetry/index.ts'
import { loadConfiguration } from '../config/load.ts'
import type { PluginType } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { SignalboxError } from '../core/errors.ts'
import type { Effect } from '../engine/effects.ts'
import { KNOWN_TYPES, pluginTypes } from '../plugins/index.ts'
import type { Receipt } from '../wire/decision.ts'
import type { EndCause, FailureCause } from '../wire/input.ts'
import { emptyRequestReceived } from '../wire/request.ts'
import type { RequestReceived, Usage } from '../wire/request.ts'
import { EngineHost } from './host.ts'
import { parsersOf, preparation, tokensOf } from './preparation.ts'

export interface CreateEngineOptions {
  /** EndpointPickerConfig and SignalboxConfig documents as YAML or JSON; llm-d's default configuration without it. */
  readonly configuration?: string
  /** Signalbox settings by name, as their flags take them: `{ journal: 'memory', seed: '7' }`. They win over the documents. */
  readonly settings?: Readonly<Record<string, string>>
  readonly pluginTypes?: readonly PluginType[]
  readonly allowExperimental?: boolean
  /** Told of remarks and faults; silent without it. */
  readonly log?: (message: string) => void
}

/** An endpoint as its announcer tells of it. */
export interface Announcement {
  readonly name: string
  /** "default" without it. */
  readonly namespace?: string
  readonly address: string
  readonly port: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** One life of it; another one under the same name replaces it. */
  readonly incarnation?: string
}

/** A request to schedule: its body as HTTP would bring it, or what is known of it. */
export interface ScheduleRequest extends Partial<Omit<RequestReceived, 'shape'>> {
  readonly body?: { readonly path: string; readonly headers?: Readonly<Record<string, string>>; readonly bytes: Uint8Array }
  readonly shape?: RequestReceived['shape']
}

/** An engine within this process: the caller announces endpoints, reports metrics, and tells what becomes of requests. */
export interface LocalEngine {
  readonly host: EngineHost
  join(announcement: Announcement): void
  drain(id: string): void
  leave(id: string): void
  /** Metrics of an endpoint by its id; the engine takes them within 50 ms. */
  report(id: string, report: MetricsReport): void
  /** Where the request goes, or why nowhere. */
  schedule(request: ScheduleRequest): Promise<Reply>
  sent(request: number, attempt: number): void
  started(request: number, attempt: number, status?: number): void
  ended(request: number, attempt: number, end?: { readonly cause?: EndCause; readonly usage?: Usage; readonly status?: number }): void
  attemptFailed(request: number, attempt: number, endpoint: string, cause: FailureCause, retryable?: boolean): Promise<Reply>
  aborted(request: number): void
  /** Receipts of a request's decisions by the position of its arrival, while they are in memory. */
  receipts(position: number): readonly Receipt[]
  /** Every effect of every turn, in order. */
  onEffect(listener: (effect: Effect) => void): void
  close(): Promise<void>
}

/**
 * Makes an engine without front door: for embedding, for tests, for other protocols.
 * @throws AggregateConfigurationError, SignalboxError where the configuration or the journal is not right
 */
export const createEngine = async (options: CreateEngineOptions = {}): Promise<LocalEngine> => {
  const userTypes = options.pluginTypes ?? []
  const { completed, settings } = loadConfiguration({
    texts: options.configuration === undefined ? [] : [{ file: 'configuration', text: options.configuration }],
    flags: new Map(Object.entries({ journal: 'memory', ...options.settings })),
    pluginTypes: [...pluginTypes, ...userTypes],
    knownTypes: KNOWN_TYPES,
    allowExperimental: options.allowExperimental ?? false,
  })
  const log = options.log ?? (() => undefined)
  const host = await EngineHost.start({
    settings, completed, userTypes,
    pluginModules: [],
    contentHashes: new Map(),
    seed: settings.seed === undefined ? randomBytes(8).readBigUInt64LE() : BigInt(settings.seed),
    runId: randomUUID(),
    clock: (notBefore) => new SystemClock(notBefore),
    events: {
      observe: () => undefined,
      divergence: (position, message) => log(`position ${position}: ${message}`),
      journal: (state, message) => log(`journal ${state} ${message}`),
      fault: (error) => log(String(error)),
    },
  })
  return localEngine(host, log)
}

const localEngine = (host: EngineHost, log: (message: string) => void): LocalEngine => {
  const { actor, desk } = host
  const { fleet, pipeline } = actor.engine.view
  const slots = new TelemetrySlots((slot) => fleet.atSlot(slot)?.endpoint.life ?? 0)
  const reports = new Subject<SlotReport>()
  telemetryTicks(reports, slots).subscribe((value) => actor.submit({ input: { kind: 'telemetryTick', value } }))
  const reader = preparation({ parsers: parsersOf(pipeline.plugins), tokens: tokensOf(pipeline.plugins), wanted: () => actor.engine.wanted(), secret: undefined })
  const known = (id: string): Endpoint => {
    const found = fleet.get(id)?.endpoint
    if (found === undefined) throw new SignalboxError('input-invalid', `no endpoint \`${id}\` has joined`)
    return found
  }
  return {
    host,
    join: (announcement) => actor.submitOrThrow({ input: { kind: 'endpointJoined', value: { endpoint: infoOf(announcement) } } }),
    drain: (id) => actor.submit({ input: { kind: 'endpointDraining', value: { endpoint: known(id).id, reason: 'operator' } } }),
    leave: (id) => actor.submitOrThrow({ input: { kind: 'endpointLeft', value: { endpoint: id, incarnation: '', reason: 'left' } } }),
    report: (id, report) => {
      const { slot, life } = known(id)
      reports.next({ slot, life, report })
    },
    schedule: ({ body, ...given }) => {
      const received = { ...emptyRequestReceived(), requestId: randomUUID(), frontDoor: 'api', proxied: true, ...given }
      if (body === undefined) return desk.receive({ ...received, targetModel: received.targetModel || received.model }, () => undefined)
      const prepared = reader.prepare(body.path, new Map(Object.entries(body.headers ?? {})), body.bytes)
      if (prepared.kind === 'refused') return Promise.resolve({ kind: 'rejected', request: 0, denial: { status: prepared.status, code: prepared.code, reason: '', message: prepared.message } })
      const { api, model, streaming, maxOutputTokens, parser, shape } = prepared
      return desk.receive({ ...received, api, model, targetModel: model, streaming, maxOutputTokens, parser, shape, bodyBytes: body.bytes.length }, () => undefined)
    },
    sent: (request, attempt) => desk.sent(request, attempt),
    started: (request, attempt, status = 200) => desk.started(request, attempt, status, true),
    ended: (request, attempt, { cause = 'natural', usage, status = 200 } = {}) => desk.ended(request, attempt, { cause, usage, status, bodyBytes: 0 }),
    attemptFailed: (request, attempt, endpoint, cause, retryable = true) => desk.attemptFailed(request, attempt, endpoint, cause, 0, retryable),
    aborted: (request) => desk.aborted(request, 'client-disconnect'),
    receipts: (position) => actor.engine.receipts(position),
    onEffect: (listener) => void actor.effects.subscribe((effect) => {
      try {
        listener(effect)
      } catch (error) {
        log(`a listener failed: ${String(error)}`)
      }
    }),
    close: async () => {
      reports.complete()
      await host.close()
    },
  }
}

const infoOf = ({ name, namespace = 'default', address, port, labels = {}, annotations = {}, incarnation = '' }: Announcement): { id: string; address: string; port: number; labels: { name: string; value: string }[]; annotations: { name: string; value: string }[]; incarnation: string; metricsHostPort: string } => ({
  id: `${namespace}/${name}`, address, port, incarnation,
  labels: pairs(labels),
  annotations: pairs(annotations),
  metricsHostPort: '',
})

const pairs = (record: Readonly<Record<string, string>>): { name: string; value: string }[] => Object.entries(record).map(([name, value]) => ({ name, value }))
