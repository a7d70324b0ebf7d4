import { createServer } from 'node:http'
import type { IncomingHttpHeaders, Server } from 'node:http'
import { Connections } from '../../src/adapters/http/connections.ts'
import { prefillHeaders } from '../../src/adapters/http/prefill/headers.ts'
import { PrefillRunner } from '../../src/adapters/http/prefill/run.ts'
import { Prefills } from '../../src/app/prefills.ts'
import { loadConfiguration } from '../../src/config/load.ts'
import type { Observation } from '../../src/core/contract.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Effect, RoutedEffect } from '../../src/engine/effects.ts'
import { pluginTypes } from '../../src/plugins/index.ts'
import type { AibrixPdProfileHandler } from '../../src/plugins/profile-handler/aibrix-pd-profile-handler/index.ts'
import { engineOptions } from '../../src/replay/engine-options.ts'
import type { Input } from '../../src/wire/input.ts'
import { engineStarted, failed, sent } from '../story/inputs.ts'
import { closed, listening } from '../story/listening.ts'
import { aibrixConfiguration, stageEnded } from '../unit/aibrix/story.ts'

/** What the stub of a prefill endpoint does. */
export interface StubReply {
  readonly status: number
  readonly reply: string
  readonly reachable: boolean
  readonly delayMs: number
}

/** What it was asked. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A prefill endpoint that answers as it is told, and remembers what it was asked. */
export class PrefillStub {
  readonly asked: Asked[] = []
  private readonly server: Server

  constructor({ status, reply }: StubReply) {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        this.asked.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(status)
        response.end(reply)
      })
    })
  }

  listen(): Promise<number> {
    return listening(this.server)
  }

  close(): Promise<void> {
    return closed(this.server)
  }
}

/** What routing one request came to: everything up to the sending of its decode. */
export interface Routed {
  readonly address: string
  readonly decodeBody: string
  readonly error: string | undefined
  readonly metrics: readonly string[]
  readonly responseHeaders: Readonly<Record<string, string>> | null
  readonly activePrefillAfter: number
  readonly pendingDecodeAfter: number
}

/** An engine with AIBrix's router whose measures are noted, and the prefills of its front door. */
export class RouteWorld {
  readonly metrics: string[] = []
  private readonly engine: Engine
  private readonly connections = new Connections({ connectTimeoutMs: 1000, idleMs: 1000 })
  private outstanding = 0
  private at = 1_700_000_000_000_000

  constructor(parameters: Readonly<Record<string, unknown>>, endpoints: readonly Input[]) {
    this.engine = new Engine(engineOptions([], { interpreter: 'table', observe: (observation) => this.note(observation) }))
    for (const input of [engineStarted(aibrixConfiguration(parameters)), ...endpoints]) this.step(input)
  }

  async route(received: Input, body: string, path: string, headers: readonly string[]): Promise<Routed> {
    const prefills = new Prefills(this.engine, loadConfiguration({ texts: [], pluginTypes }).settings)
    const refusal = prefills.refuses(Buffer.from(body))
    if (refusal !== undefined) return this.told(undefined, body, refusal)
    const reply = this.step(received).find((effect) => effect.kind === 'routed' || effect.kind === 'rejected')
    if (reply?.kind !== 'routed') return this.told(undefined, body, reply?.kind === 'rejected' ? reply.denial.message : 'nothing')
    const leg = prefills.legOf(reply)
    if (leg === undefined) {
      this.step(sent(reply.request))
      return this.told(reply, body, undefined)
    }
    let decoded: string | undefined
    let error: string | undefined
    await new Promise<void>((resolve) => {
      const run = { requestId: 'req-7', leg, model: 'model', path, headers: prefillHeaders(headers, 'req-7'), body: Buffer.from(body) }
      const runner = new PrefillRunner(run, prefills.observer((observation) => this.note(observation)), {
        decode: (merged) => {
          decoded = merged.toString()
          this.step(sent(reply.request))
          if (!leg.isAsync) resolve()
        },
        prefillEnded: () => {
          this.step(stageEnded(reply.request))
          // What follows from it is told right after.
          if (leg.isAsync) setImmediate(resolve)
        },
        prefillFailed: (message) => {
          error = message
          if (!leg.isAsync) this.step(failed(reply.request, reply.attempt, leg.endpoint.id.replace('default/', ''), 'unavailable', false))
          resolve()
        },
      })
      runner.start(this.connections, () => undefined)
    })
    await this.connections.close()
    return this.told(reply, decoded ?? body, leg.isAsync ? undefined : error)
  }

  private told(reply: RoutedEffect | undefined, decodeBody: string, error: string | undefined): Routed {
    const headers = Object.fromEntries((reply?.responseHeaders ?? []).filter(([name]) => name.startsWith('prefill-target')))
    const { endpoints } = (this.engine.view.pipeline.handler as AibrixPdProfileHandler).dump() as { endpoints: { prefills: number; pendingDecodes: number }[] }
    return {
      address: error === undefined ? (reply?.endpoint.hostPort ?? '') : '',
      decodeBody, error, metrics: this.metrics,
      responseHeaders: Object.keys(headers).length === 0 ? null : headers,
      activePrefillAfter: endpoints.reduce((sum, { prefills }) => sum + prefills, 0),
      pendingDecodeAfter: endpoints.reduce((sum, { pendingDecodes }) => sum + pendingDecodes, 0),
    }
  }

  private step(input: Input): readonly Effect[] {
    this.at += 1000
    return this.engine.step(input, this.at).effects
  }

  /** A measure in the words of the files. */
  private note({ name, labels, value }: Observation): void {
    if (name.startsWith('pd_selected_')) this.metrics.push(`${name}{pod=${labels['pod'] ?? ''}}`)
    else if (name === 'gateway_prefill_outstanding_requests') {
      this.metrics.push(`${name} ${value > this.outstanding ? '+1' : '-1'}`)
      this.outstanding = value
    } else if (name.startsWith('gateway_prefill_')) this.metrics.push(`${name}{status=${labels['status'] ?? ''},status_code=${labels['status_code'] ?? ''}}`)
  }
}
