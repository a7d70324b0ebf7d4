import { TelemetrySlots, TICK_MS } from '../../actors/telemetry/index.ts'
import type { MetricsReport } from '../../actors/telemetry/index.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { Effect, RoutedEffect } from '../../engine/effects.ts'
import { Engine } from '../../engine/engine.ts'
import { CUSTOM_METRICS, ENGINE_METRICS } from '../../plugins/producer/aibrix-metrics-producer/index.ts'
import { AibrixPdProfileHandler } from '../../plugins/profile-handler/aibrix-pd-profile-handler/index.ts'
import { engineOptions } from '../../replay/index.ts'
import { VirtualFleet } from '../../simulation/index.ts'
import type { VirtualEndpoint, VirtualFleetOptions, VirtualRoute } from '../../simulation/index.ts'
import { emptyEngineStarted } from '../../wire/input.ts'
import type { Input } from '../../wire/input.ts'
import { emptyRequestReceived, emptyUsage } from '../../wire/request.ts'
import type { Loaded } from '../load.ts'
import { prefillsInGateway } from '../prefills.ts'
import { parsersOf, preparation, tokensOf } from '../preparation.ts'
import { Tally } from './figures.ts'
import type { PolicyFigures } from './figures.ts'
import type { PlannedRequest, Workload } from './workload.ts'

/** A configuration under a name. */
export interface Policy {
  readonly name: string
  readonly loaded: Loaded
}

/** When every run begins, microseconds since the Unix epoch. */
const EPOCH_US = 1_700_000_000_000_000
/** A comparison reads no receipts: what fits here is soon forgotten. */
const RECEIPT_BYTES = 1024 * 1024
const PATH = '/v1/chat/completions'
const HEADERS: ReadonlyMap<string, string> = new Map([['content-type', 'application/json']])

/**
 * Plays a workload under one policy in virtual time: the engine itself, told of what the simulated endpoints do as its
 * shells would tell it, metrics every 50 ms included. The same again gives the same figures, to the last digit.
 * @throws SignalboxError usage for a configuration that needs what virtual time does not have
 */
export const runPolicy = ({ name, loaded }: Policy, workload: Workload, fleet: VirtualFleetOptions, seed: bigint, progress: (done: number) => void): PolicyFigures => {
  const run = new PolicyRun(name, loaded, workload, fleet, seed)
  run.play(progress)
  return run.figures()
}

class PolicyRun {
  private readonly name: string
  private readonly workload: Workload
  private readonly engine: Engine
  private readonly fleet: VirtualFleet
  private readonly slots: TelemetrySlots
  private readonly tally = new Tally()
  private readonly gateway: boolean
  private readonly custom: readonly (keyof typeof CUSTOM_METRICS)[]
  private readonly reader: ReturnType<typeof preparation>

  constructor(name: string, { completed, settings, userTypes }: Loaded, workload: Workload, fleet: VirtualFleetOptions, seed: bigint) {
    this.name = name
    this.workload = workload
    this.fleet = new VirtualFleet(fleet)
    this.engine = new Engine(engineOptions(userTypes, { receiptBytes: RECEIPT_BYTES, interpreter: settings.interpreter }))
    this.step({ kind: 'engineStarted', value: { ...emptyEngineStarted(), configuration: JSON.stringify(completed), seed, runId: name } }, 0)
    const { pipeline, fleet: known } = this.engine.view
    this.gateway = prefillsInGateway(pipeline.handler, settings)
    this.custom = pipeline.handler instanceof AibrixPdProfileHandler ? (Object.keys(ENGINE_METRICS[fleet.engine] ?? {}) as (keyof typeof CUSTOM_METRICS)[]) : []
    const tokens = tokensOf(pipeline.plugins)
    if (tokens?.render !== undefined) throw new SignalboxError('usage', `${name}: a comparison has no server that counts tokens; take \`vllm\` out of the token-producer`)
    if (pipeline.kvEvents.length > 0) throw new SignalboxError('usage', `${name}: a comparison has no KV events; take an approximate prefix cache`)
    this.reader = preparation({ parsers: parsersOf(pipeline.plugins, completed.parsers), tokens, wanted: () => this.engine.wanted(), secret: undefined })
    this.slots = new TelemetrySlots((slot) => known.atSlot(slot)?.endpoint.life ?? 0)
    this.fleet.endpoints.forEach((endpoint, index) => this.join(endpoint, index))
  }

  play(progress: (done: number) => void): void {
    const { requests } = this.workload
    let tickMs = 0
    let sent = 0
    while (sent < requests.length || this.engine.view.requests.size > 0) {
      const next = requests[sent]
      const timerMs = ((this.engine.view.timers.earliest ?? Infinity) - EPOCH_US) / 1000
      const atMs = Math.min(next?.atMs ?? Infinity, this.fleet.nextAt(), tickMs, timerMs)
      this.fleet.advance(atMs)
      if (timerMs <= atMs) this.step({ kind: 'timerFired', value: { deadlineUs: this.engine.view.timers.earliest ?? 0 } }, atMs)
      if (tickMs <= atMs) {
        this.tick(atMs)
        tickMs += TICK_MS
      }
      if (next !== undefined && next.atMs <= atMs) {
        this.arrive(next, sent, atMs)
        sent += 1
        progress(sent)
      }
    }
  }

  figures(): PolicyFigures {
    const router = this.engine.view.pipeline.handler instanceof AibrixPdProfileHandler ? 'aibrix' : 'llm-d'
    return this.tally.figures(this.name, router, this.fleet.endpoints, this.workload.ceiling)
  }

  private join({ id, labels }: VirtualEndpoint, index: number): void {
    const endpoint = {
      id, address: '10.0.0.1', port: 8000 + index, incarnation: '1', metricsHostPort: '', annotations: [],
      labels: Object.entries(labels).map(([name, value]) => ({ name, value })),
    }
    this.step({ kind: 'endpointJoined', value: { endpoint } }, 0)
  }

  /** Every endpoint is heard, as often as a scraper would hear it. */
  private tick(atMs: number): void {
    const { fleet } = this.engine.view
    for (const endpoint of this.fleet.endpoints) {
      const known = fleet.get(endpoint.id)?.endpoint
      if (known !== undefined) this.slots.report(known.slot, known.life, this.reportOf(endpoint, atMs))
    }
    const value = this.slots.tick()
    if (value !== undefined) this.step({ kind: 'telemetryTick', value }, atMs)
  }

  private reportOf(endpoint: VirtualEndpoint, atMs: number): MetricsReport {
    const { timing } = endpoint
    const measured: Readonly<Partial<Record<keyof typeof CUSTOM_METRICS, number>>> = {
      throughput: endpoint.generationRate(atMs),
      generationTokens: endpoint.generationTokens,
      completed: endpoint.finishedLegs,
      prefillSeconds: endpoint.prefillSeconds,
      prefills: endpoint.prefills,
    }
    return {
      waitingQueueSize: endpoint.waiting,
      runningRequestsSize: endpoint.running,
      kvCacheUsage: endpoint.kvUsage,
      cacheBlockSize: timing.blockTokens,
      cacheNumBlocks: timing.blockCount,
      custom: new Map(this.custom.flatMap((name) => (measured[name] === undefined ? [] : [[CUSTOM_METRICS[name], measured[name]]]))),
    }
  }

  private arrive({ body, work }: PlannedRequest, index: number, atMs: number): void {
    const bytes = body()
    const prepared = this.reader.prepare(PATH, HEADERS, bytes)
    if (prepared.kind === 'refused') {
      this.tally.failed += 1
      return
    }
    const { api, model, streaming, maxOutputTokens, parser, shape } = prepared
    const effects = this.step({
      kind: 'requestReceived',
      value: { ...emptyRequestReceived(), requestId: `request-${index}`, frontDoor: 'http', proxied: true, api, model, targetModel: model, streaming, maxOutputTokens, parser, shape, bodyBytes: bytes.length },
    }, atMs)
    const routed = effects.find((effect) => effect.kind === 'routed')
    if (routed !== undefined) this.send(routed, work, atMs)
  }

  private send({ request, attempt, stages, endpoint }: RoutedEffect, work: PlannedRequest['work'], arrivedMs: number): void {
    const { tally } = this
    const route: VirtualRoute = { decode: endpoint.id, prefill: stages.find(({ stage }) => stage === 'prefill')?.endpoints[0] }
    const waits = this.gateway && route.prefill !== undefined
    let firstMs = 0
    let cachedTokens = 0
    tally.routed(route.decode, route.prefill)
    if (this.fleet.exceeds(work)) {
      this.refuse(request, attempt, arrivedMs)
      return
    }
    if (!waits) this.step({ kind: 'requestSent', value: { request, attempt } }, arrivedMs)
    this.fleet.serve(request, work, route, {
      admitted: (tokens) => {
        cachedTokens = tokens
        tally.cachedTokens += tokens
      },
      prefilled: (atMs) => {
        if (!waits) return
        this.step({ kind: 'stageEnded', value: { request, attempt, stage: 'prefill', status: 200 } }, atMs)
        this.step({ kind: 'requestSent', value: { request, attempt } }, atMs)
      },
      firstToken: (atMs) => {
        firstMs = atMs
        tally.firstToken.push(atMs - arrivedMs)
        this.step({ kind: 'responseStarted', value: { request, attempt, status: 200, streaming: true } }, atMs)
      },
      progressed: (tokens, atMs) => void this.step({ kind: 'requestProgressed', value: { request, tokens } }, atMs),
      ended: (atMs) => {
        tally.completed += 1
        tally.endToEnd.push(atMs - arrivedMs)
        if (work.outputTokens > 1) tally.betweenTokens.push((atMs - firstMs) / (work.outputTokens - 1))
        const usage = { ...emptyUsage(), promptTokens: work.promptTokens, completionTokens: work.outputTokens, totalTokens: work.promptTokens + work.outputTokens, cachedTokens }
        this.step({ kind: 'responseEnded', value: { request, attempt, cause: 'natural', usage, status: 200, bodyBytes: 0 } }, atMs)
      },
    }, arrivedMs)
  }

  /** An endpoint that can never hold a request answers 400 at once. */
  private refuse(request: number, attempt: number, atMs: number): void {
    this.tally.failed += 1
    this.step({ kind: 'requestSent', value: { request, attempt } }, atMs)
    this.step({ kind: 'responseEnded', value: { request, attempt, cause: 'natural', usage: undefined, status: 400, bodyBytes: 0 } }, atMs)
  }

  private step(content: NonNullable<Input['input']>, atMs: number): readonly Effect[] {
    const { effects } = this.engine.step({ input: content }, EPOCH_US + Math.round(atMs * 1000))
    for (const effect of effects) {
      if (effect.kind === 'rejected' || effect.kind === 'expired') this.tally.failed += 1
      if (effect.kind === 'expired') this.fleet.abort(effect.request, atMs)
    }
    return effects
  }
}
