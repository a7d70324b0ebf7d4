import type { Column, PrefixCacheMatchInfo } from '../../core/attribute.ts'
import { byCodeUnit } from '../../core/order.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Decision } from '../../wire/decision.ts'
import type { Input } from '../../wire/input.ts'
import { OverTime } from './over-time.ts'
import type { ForkStretch } from './over-time.ts'

/** One configuration's side of an endpoint's load. */
interface LoadSide {
  /** Times it was picked, by any stage. */
  readonly picks: number
  /** Requests in flight at most, right after a pick. */
  readonly inFlightMax: number
  /** Requests in flight at the end of each stretch of `overTime`. */
  readonly inFlight: readonly number[]
}

/** What a fork came to. */
export interface ForkSummary {
  readonly records: number
  readonly decisions: number
  readonly changed: number
  /** Requests that only one of the two turned away. */
  readonly rejectedOnlyRecorded: number
  readonly rejectedOnlyForked: number
  readonly endpoints: readonly { readonly id: string; readonly recorded: LoadSide; readonly forked: LoadSide }[]
  /** Prompt tokens found in the cache of the primary pick, where a producer tells. */
  readonly hitTokens: { readonly recorded: number; readonly forked: number }
  readonly promptTokens: number
  /** How it went, in stretches of one length, 120 at most. */
  readonly overTime: readonly ForkStretch[]
  /** What the fork takes for granted. */
  readonly assumed: readonly string[]
  /** What the other configuration asks for and was not recorded. */
  readonly missing: readonly string[]
}

class Side {
  picks = 0
  inFlightMax = 0
}

/** Counts two engines that go side by side. */
export class ForkTally {
  private readonly engines: readonly [Engine, Engine]
  private readonly loads: readonly [Map<string, Side>, Map<string, Side>] = [new Map<string, Side>(), new Map<string, Side>()]
  private readonly hits: [number, number] = [0, 0]
  private readonly missing = new Map<string, number>()
  private records = 0
  private decisions = 0
  private changed = 0
  private promptTokens = 0
  private rejectedOnly: [number, number] = [0, 0]
  private endless = 0
  private readonly overTime: OverTime
  private stretch: ReturnType<OverTime['at']> | undefined = undefined

  constructor(recorded: Engine, forked: Engine) {
    this.engines = [recorded, forked]
    this.overTime = new OverTime(this.engines)
  }

  /** To be called before the engines take a record; looks whether an arrival bears what the forked engine asks for. */
  arriving(input: Input, atUs: number): void {
    this.stretch = this.overTime.at(atUs)
    this.records += 1
    const content = input.input
    if (content?.kind !== 'requestReceived') return
    const prompts = content.value.shape?.prompts ?? []
    const promptTokens = prompts.reduce((sum, { tokens }) => sum + tokens, 0)
    this.promptTokens += promptTokens
    this.stretch.promptTokens += promptTokens
    if (this.engines[1].view.started === undefined || prompts.length === 0) return
    for (const { kind, blockTokens } of this.engines[1].wanted()) {
      if (prompts.every(({ tokens, blocks }) => tokens < blockTokens || blocks.some((each) => each.kind === kind && each.blockTokens === blockTokens))) continue
      const what = `prompt hashes "${kind}" in blocks of ${blockTokens} tokens`
      this.missing.set(what, (this.missing.get(what) ?? 0) + 1)
    }
  }

  decided(recorded: Decision | undefined, forked: Decision | undefined, changed: boolean): void {
    this.decisions += 1
    if (changed) this.changed += 1
    if (this.stretch !== undefined) {
      this.stretch.decisions += 1
      if (changed) this.stretch.changed += 1
    }
    const turnedAway = [recorded, forked].map((decision) => decision?.outcome !== 'routed') as [boolean, boolean]
    if (turnedAway[0] && !turnedAway[1]) {
      this.rejectedOnly[0] += 1
      this.endless += 1
    }
    if (turnedAway[1] && !turnedAway[0]) this.rejectedOnly[1] += 1
    this.count(0, recorded)
    this.count(1, forked)
  }

  summary(): ForkSummary {
    const ids = [...new Set([...this.loads[0].keys(), ...this.loads[1].keys()])].sort(byCodeUnit)
    const { stretches, loadsOf } = this.overTime.summary()
    const side = (which: 0 | 1, id: string): LoadSide => {
      const { picks = 0, inFlightMax = 0 } = this.loads[which].get(id) ?? {}
      return { picks, inFlightMax, inFlight: loadsOf(id)[which === 0 ? 'recorded' : 'forked'] }
    }
    return {
      records: this.records, decisions: this.decisions, changed: this.changed,
      rejectedOnlyRecorded: this.rejectedOnly[0], rejectedOnlyForked: this.rejectedOnly[1],
      endpoints: ids.map((id) => ({ id, recorded: side(0, id), forked: side(1, id) })),
      hitTokens: { recorded: this.hits[0], forked: this.hits[1] },
      promptTokens: this.promptTokens,
      overTime: stretches,
      assumed: [
        'Arrivals, telemetry and the times at which responses begin and end are the recorded ones: endpoints do not react to where requests go now.',
        ...(this.endless === 0 ? [] : [`${this.endless} requests were turned away when recorded: they are routed now, and no end of theirs is known, so each counts as load until it expires.`]),
      ],
      missing: [...this.missing].map(([what, requests]) => `${what}: not recorded for ${requests} requests, so nothing of theirs is found in any cache`),
    }
  }

  private count(which: 0 | 1, decision: Decision | undefined): void {
    const engine = this.engines[which]
    for (const { profile, picks } of decision?.profiles ?? []) {
      const id = picks[0]?.endpoint
      const endpoint = id === undefined ? undefined : engine.view.fleet.get(id)?.endpoint
      if (id === undefined || endpoint === undefined) continue
      const side = this.loads[which].get(id) ?? new Side()
      this.loads[which].set(id, side)
      side.picks += 1
      side.inFlightMax = Math.max(side.inFlightMax, engine.view.ledger.load(endpoint).requests)
      if (profile !== decision?.primaryProfile) continue
      for (const [key, column] of engine.view.pipeline.columns) {
        if (!key.includes('PrefixCacheMatchInfo')) continue
        const match = (column as Column<PrefixCacheMatchInfo>).get(endpoint)
        if (match !== undefined) {
          const tokens = match.cachedBlockCount * match.blockSizeTokens
          this.hits[which] += tokens
          if (this.stretch !== undefined) this.stretch.hits[which] += tokens
        }
        break
      }
    }
  }
}
