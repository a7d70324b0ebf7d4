import type { Column } from '../../core/attribute.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import type { Request } from '../../core/request.ts'
import type { EngineOptions } from '../../engine/context.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Profile } from '../../scheduling/profile.ts'
import type { StateAt } from '../../journal/state-message.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { atDecision } from './at-decision.ts'
import { nearestFlip } from './nearest-flip.ts'
import { changesIn, signatureOf, stagesOf } from './stages.ts'
import type { StagePick } from './stages.ts'

/** What would have changed a decision. */
export interface Flip {
  readonly profile: string
  readonly kind: 'weight' | 'attribute'
  /** The scorer, or the attribute. */
  readonly name: string
  /** Whose attribute; empty for a weight. */
  readonly endpoint: string
  readonly from: number
  /** The nearest value with another decision; undefined when none was found in the range looked through. */
  readonly to: number | undefined
  /** Whom the profile picks then, and what becomes of other stages: "default/b", "no prefill", "prefill on default/p". */
  readonly picks: string
  /** |to - from| by |from|, or by the range where `from` is 0. */
  readonly relative: number
}

/** A number of a candidate that can be set for a trial. */
interface Dial {
  readonly name: string
  readonly from: number
  readonly low: number
  readonly high: number
  readonly whole: boolean
  set(value: number): void
}

const REPORTED = ['waitingQueueSize', 'runningRequestsSize', 'kvCacheUsage'] as const
/** How far above a weight or count the search goes. */
const REACH = 64

/**
 * For each weight of the profiles that ran, and for each numeric attribute of their picks and runners-up: the nearest
 * value that makes the decision another, be it whom a profile picks or, by way of a decider, whether one runs at all; all
 * else and the draws held. Each value tried is a decision made by the scheduler itself, in the turn and with the data of
 * the first one; the nearest first, those without one last.
 */
export const flips = (options: EngineOptions, before: StateAt, record: JournalRecord, request: number): Flip[] => {
  const found: Flip[] = []
  atDecision(options, before, record, request, (engine, scheduled, candidates) => found.push(...decisionFlips(engine, scheduled, candidates)))
  return found.sort((a, b) => a.relative - b.relative)
}

const decisionFlips = (engine: Engine, request: Request, candidates: readonly Endpoint[]): Flip[] => {
  const now = stagesOf(engine, request, candidates, (profile) => profile)
  const signature = signatureOf(now)
  const flip = (profile: string, kind: Flip['kind'], endpoint: string, dial: Dial, weighed: (profile: Profile, value: number) => Profile): Flip => {
    const at = (value: number): ReadonlyMap<string, StagePick> => {
      dial.set(value)
      return stagesOf(engine, request, candidates, (each) => weighed(each, value))
    }
    const to = nearestFlip({ ...dial, flipped: (value) => signatureOf(at(value)) !== signature })
    const picks = to === undefined ? '' : changesIn(now, at(to), profile)
    dial.set(dial.from)
    const scale = dial.from === 0 ? dial.high - dial.low : Math.abs(dial.from)
    return { profile, kind, name: dial.name, endpoint, from: dial.from, to, picks, relative: to === undefined ? Infinity : Math.abs(to - dial.from) / scale }
  }
  const ran = [...engine.view.pipeline.profiles.values()].filter(({ name }) => now.get(name)?.pick !== undefined)
  const weights = ran.flatMap((profile) => profile.scorers.map(({ scorer, weight }, i) => {
    const dial: Dial = { name: scorer.typedName.name, from: weight, low: 0, high: Math.max(1, weight) * REACH, whole: false, set: () => undefined }
    return flip(profile.name, 'weight', '', dial, (each, value) => (each.name === profile.name ? { ...each, scorers: each.scorers.map((one, j) => (j === i ? { ...one, weight: value } : one)) } : each))
  }))
  const attributes = [...lookedAt(now, candidates)].flatMap(([endpoint, profile]) =>
    [...reported(endpoint), ...produced(engine, endpoint, candidates)].map((dial) => flip(profile, 'attribute', endpoint.id, dial, (each) => each)))
  return [...weights, ...attributes]
}

/** Picks and runners-up, each once, with the first profile that looked at it so. */
const lookedAt = (stages: ReadonlyMap<string, StagePick>, candidates: readonly Endpoint[]): ReadonlyMap<Endpoint, string> => {
  const found = new Map<Endpoint, string>()
  for (const [profile, { pick, runnerUp }] of stages) {
    for (const endpoint of [pick, candidates.find(({ id }) => id === runnerUp)]) if (endpoint !== undefined && !found.has(endpoint)) found.set(endpoint, profile)
  }
  return found
}

/** What the endpoint reports of itself. */
const reported = (endpoint: Endpoint): Dial[] =>
  REPORTED.map((name) => ({
    name, from: endpoint[name], low: 0,
    high: name === 'kvCacheUsage' ? 1 : Math.max(8, endpoint[name]) * REACH,
    whole: name !== 'kvCacheUsage',
    set: (value: number) => {
      endpoint[name] = value
    },
  }))

/** What producers wrote of it for this request. */
const produced = (engine: Engine, endpoint: Endpoint, candidates: readonly Endpoint[]): Dial[] =>
  [...engine.view.pipeline.columns].flatMap(([key, column]) => {
    const values = new Map(candidates.map((each) => [each, column.get(each)]))
    const value = values.get(endpoint)
    if (typeof value !== 'object' || value === null) return []
    const fields = Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number' && !FIXED.has(entry[0]))
    return fields.map(([field, from]): Dial => ({
      name: `${shortKey(key)}.${field}`, from, low: 0, high: highest(value, field, from), whole: Number.isInteger(from),
      set: (changed) => provide(column, values, endpoint, { ...value, [field]: changed }),
    }))
  })

/** Sizes that belong to the request, or follow from another field. */
const FIXED: ReadonlySet<string> = new Set(['totalBlocks', 'blockSizeTokens'])

const highest = (value: object, field: string, from: number): number => {
  const total = (value as Readonly<Record<string, unknown>>)['totalBlocks']
  return typeof total === 'number' && field.includes('Block') ? total : Math.max(8, from) * REACH
}

const shortKey = (key: string): string => key.replace(/DataKey.*$/, '').replace(/\/.*$/, '')

const provide = (column: Column<unknown>, values: ReadonlyMap<Endpoint, unknown>, changed: Endpoint, value: unknown): void =>
  column.provide((endpoint) => (endpoint === changed ? value : values.get(endpoint)))
