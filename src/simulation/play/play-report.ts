import type { PrefixCeiling } from '../trace/prefix-ceiling.ts'
import { percentiles } from './percentiles.ts'
import type { Percentiles } from './percentiles.ts'
import type { StreamUsage } from './chat-stream.ts'

export const STAGES = ['decode', 'prefill', 'encode'] as const
export type Stage = (typeof STAGES)[number]

/** What happened to one request that was sent. */
export interface Outcome {
  /** Undefined when it completed; else what kind of failure it was. */
  readonly error: { readonly kind: string; readonly detail: string } | undefined
  /** Times from sending to the first piece, and to the end, ms of the wall clock. */
  readonly firstTokenMs: number
  readonly endMs: number
  readonly interTokenMs: number | undefined
  readonly usage: StreamUsage | undefined
  /** Which endpoints served it, by stage. */
  readonly endpoints: Readonly<Record<Stage, readonly string[]>>
}

interface EndpointShare {
  readonly endpoint: string
  readonly requests: number
  /** Of the requests that passed this stage, 0 to 1. */
  readonly share: number
}

/** The figures of a play; times are ms of the wall clock. */
export interface PlayReport {
  readonly sent: number
  readonly completed: number
  readonly failed: number
  /** True when it was stopped before the end of the trace. */
  readonly interrupted: boolean
  readonly durationMs: number
  /** Requests that had to wait for a free connection (`--concurrency`), and the most that one was sent too late. */
  readonly heldBack: number
  readonly latestMs: number
  readonly errors: readonly { readonly kind: string; readonly count: number; readonly example: string }[]
  readonly firstTokenMs: Percentiles
  readonly interTokenMs: Percentiles
  readonly endToEndMs: Percentiles
  readonly promptTokens: number
  readonly completionTokens: number
  readonly prefix: {
    readonly cachedTokens: number
    /** The most that any cache could hit of what was sent. */
    readonly ceilingTokens: number
    /** Both as shares of the prompt tokens sent; null when nothing was sent. */
    readonly hitShare: number | null
    readonly ceilingShare: number | null
    /** Hits as a share of the ceiling; null when the trace shares nothing. */
    readonly ofCeiling: number | null
  }
  readonly endpoints: Readonly<Record<Stage, readonly EndpointShare[]>>
}

/** Collects outcomes as they come. */
export class PlayTally {
  sent = 0
  completed = 0
  failed = 0
  heldBack = 0
  latestMs = 0
  promptTokens = 0
  completionTokens = 0
  cachedTokens = 0
  readonly #firstToken: number[] = []
  readonly #interToken: number[] = []
  readonly #endToEnd: number[] = []
  readonly #errors = new Map<string, { count: number; example: string }>()
  readonly #endpoints: Record<Stage, Map<string, number>> = { decode: new Map(), prefill: new Map(), encode: new Map() }

  add(outcome: Outcome): void {
    for (const stage of STAGES) {
      const counts = this.#endpoints[stage]
      for (const endpoint of outcome.endpoints[stage]) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1)
    }
    if (outcome.error !== undefined) {
      const { kind, detail } = outcome.error
      const known = this.#errors.get(kind)
      if (known === undefined) this.#errors.set(kind, { count: 1, example: detail })
      else known.count++
      this.failed++
      return
    }
    this.completed++
    this.#firstToken.push(outcome.firstTokenMs)
    this.#endToEnd.push(outcome.endMs)
    if (outcome.interTokenMs !== undefined) this.#interToken.push(outcome.interTokenMs)
    this.promptTokens += outcome.usage?.promptTokens ?? 0
    this.completionTokens += outcome.usage?.completionTokens ?? 0
    this.cachedTokens += outcome.usage?.cachedTokens ?? 0
  }

  report(ceiling: PrefixCeiling, durationMs: number, interrupted: boolean): PlayReport {
    const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole)
    return {
      sent: this.sent,
      completed: this.completed,
      failed: this.failed,
      interrupted,
      durationMs,
      heldBack: this.heldBack,
      latestMs: this.latestMs,
      errors: [...this.#errors].map(([kind, { count, example }]) => ({ kind, count, example })).sort((a, b) => b.count - a.count),
      firstTokenMs: percentiles(this.#firstToken),
      interTokenMs: percentiles(this.#interToken),
      endToEndMs: percentiles(this.#endToEnd),
      promptTokens: this.promptTokens,
      completionTokens: this.completionTokens,
      prefix: {
        cachedTokens: this.cachedTokens,
        ceilingTokens: ceiling.hitTokens,
        hitShare: share(this.cachedTokens, ceiling.inputTokens),
        ceilingShare: share(ceiling.hitTokens, ceiling.inputTokens),
        ofCeiling: share(this.cachedTokens, ceiling.hitTokens),
      },
      endpoints: {
        decode: shares(this.#endpoints.decode),
        prefill: shares(this.#endpoints.prefill),
        encode: shares(this.#endpoints.encode),
      },
    }
  }
}

function shares(counts: ReadonlyMap<string, number>): EndpointShare[] {
  let total = 0
  for (const requests of counts.values()) total += requests
  return [...counts]
    .map(([endpoint, requests]) => ({ endpoint, requests, share: requests / total }))
    .sort((a, b) => (a.endpoint < b.endpoint ? -1 : 1))
}
