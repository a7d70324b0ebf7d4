import { percentiles } from '../../simulation/index.ts'
import type { Percentiles, PrefixCeiling, VirtualEndpoint } from '../../simulation/index.ts'

/** How evenly something is spread over endpoints; both null where there is nothing to spread. */
export interface Spread {
  /** The most that one endpoint has over the mean: 1 when all have the same. */
  readonly mostOverMean: number | null
  /** Standard deviation over the mean: 0 when all have the same. */
  readonly variation: number | null
}

/** What a policy came to on a workload. Times are ms of the simulated fleet. */
export interface PolicyFigures {
  readonly policy: string
  /** Whether AIBrix's router chose the pairs, or llm-d's plugins. */
  readonly router: 'aibrix' | 'llm-d'
  readonly requests: number
  readonly completed: number
  readonly failed: number
  readonly firstTokenMs: Percentiles
  readonly betweenTokensMs: Percentiles
  readonly endToEndMs: Percentiles
  readonly prefix: {
    /** Cached prompt tokens as a share of all, at the endpoints that computed the prompts. */
    readonly hitShare: number
    /** The most that one infinite cache would hit. */
    readonly ceilingShare: number
    /** Null when the workload shares nothing. */
    readonly ofCeiling: number | null
  }
  /** Share of the requests that another endpoint prefilled. */
  readonly prefilledElsewhere: number
  readonly balance: {
    /** Over the prefill endpoints. */
    readonly prefills: Spread
    readonly computedTokens: Spread
    /** Over the decode endpoints. */
    readonly decodes: Spread
    readonly generatedTokens: Spread
  }
  readonly endpoints: readonly EndpointFigures[]
}

export interface EndpointFigures {
  readonly endpoint: string
  readonly role: 'prefill' | 'decode'
  readonly requests: number
  readonly computedTokens: number
  readonly cachedTokens: number
  readonly generatedTokens: number
}

/** Collects what becomes of the requests of one run. */
export class Tally {
  completed = 0
  failed = 0
  elsewhere = 0
  cachedTokens = 0
  readonly firstToken: number[] = []
  readonly betweenTokens: number[] = []
  readonly endToEnd: number[] = []
  private readonly requestsAt = new Map<string, number>()

  /** A request goes to these endpoints. */
  routed(decode: string, prefill: string | undefined): void {
    if (prefill !== undefined) this.elsewhere += 1
    for (const id of prefill === undefined ? [decode] : [decode, prefill]) this.requestsAt.set(id, (this.requestsAt.get(id) ?? 0) + 1)
  }

  figures(policy: string, router: PolicyFigures['router'], endpoints: readonly VirtualEndpoint[], ceiling: PrefixCeiling): PolicyFigures {
    const each = endpoints.map((endpoint): EndpointFigures => ({
      endpoint: endpoint.id,
      role: endpoint.role,
      requests: this.requestsAt.get(endpoint.id) ?? 0,
      computedTokens: endpoint.computedTokens,
      cachedTokens: endpoint.cachedTokens,
      generatedTokens: endpoint.generationTokens,
    }))
    const prefill = each.filter(({ role }) => role === 'prefill')
    const decode = each.filter(({ role }) => role === 'decode')
    return {
      policy, router,
      requests: ceiling.requests,
      completed: this.completed,
      failed: this.failed,
      firstTokenMs: percentiles(this.firstToken),
      betweenTokensMs: percentiles(this.betweenTokens),
      endToEndMs: percentiles(this.endToEnd),
      prefix: {
        hitShare: ceiling.inputTokens === 0 ? 0 : this.cachedTokens / ceiling.inputTokens,
        ceilingShare: ceiling.inputTokens === 0 ? 0 : ceiling.hitTokens / ceiling.inputTokens,
        ofCeiling: ceiling.hitTokens === 0 ? null : this.cachedTokens / ceiling.hitTokens,
      },
      prefilledElsewhere: ceiling.requests === 0 ? 0 : this.elsewhere / ceiling.requests,
      balance: {
        prefills: spreadOf(prefill.map(({ requests }) => requests)),
        computedTokens: spreadOf(prefill.map(({ computedTokens }) => computedTokens)),
        decodes: spreadOf(decode.map(({ requests }) => requests)),
        generatedTokens: spreadOf(decode.map(({ generatedTokens }) => generatedTokens)),
      },
      endpoints: each,
    }
  }
}

/** How evenly these are spread; the deviation is of the whole population. */
export const spreadOf = (values: readonly number[]): Spread => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  if (!(mean > 0)) return { mostOverMean: null, variation: null }
  const variance = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / values.length
  return { mostOverMean: Math.max(...values) / mean, variation: Math.sqrt(variance) / mean }
}
