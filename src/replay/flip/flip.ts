import type { Column } from '../../core/attribute.ts'
import type { Admitter } from '../../core/contract.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import type { Request } from '../../core/request.ts'
import type { EngineOptions } from '../../engine/context.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Profile } from '../../scheduling/profile.ts'
import { runProfile } from '../../scheduling/run-profile.ts'
import type { StateAt } from '../../journal/state-message.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { engineAt } from '../engine-at.ts'
import { nearestFlip } from './nearest-flip.ts'

/** What would have changed a pick. */
export interface Flip {
  readonly profile: string
  readonly kind: 'weight' | 'attribute'
  /** The scorer, or the attribute. */
  readonly name: string
  /** Whose attribute; empty for a weight. */
  readonly endpoint: string
  readonly from: number
  /** The nearest value with another pick; undefined when none was found in the range looked through. */
  readonly to: number | undefined
  /** Whom that picks. */
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
 * For each profile that scored: the nearest value of each weight, and of each numeric attribute of the pick and the
 * runner-up, that makes the profile pick another, all else and the draws held. Each value tried is a run of the profile
 * by the scheduler itself, in the turn and with the data of the decision; the nearest first, those without one last.
 */
export const flips = (options: EngineOptions, before: StateAt, record: JournalRecord, request: number): Flip[] => {
  const found: Flip[] = []
  let engine: Engine | undefined = undefined
  let done = false
  // An admitter runs when the data is there and nothing is picked yet.
  const trial: Admitter = {
    typedName: { type: 'flip-trial', name: 'flip-trial' },
    admit: (scheduled, candidates) => {
      if (engine !== undefined && !done && keyOf(engine, scheduled) === request) {
        done = true
        for (const profile of engine.view.pipeline.profiles.values()) found.push(...profileFlips(engine, profile, scheduled, candidates))
      }
      return undefined
    },
  }
  engine = engineAt({ ...options, extraPlugins: [...(options.extraPlugins ?? []), () => trial] }, before)
  engine.step(record.input ?? { input: undefined }, record.atUs)
  return found.sort((a, b) => a.relative - b.relative)
}

const keyOf = (engine: Engine, request: Request): number => [...engine.view.requests.values()].find((each) => each === request)?.key ?? 0

const profileFlips = (engine: Engine, profile: Profile, request: Request, candidates: readonly Endpoint[]): Flip[] => {
  const run = (tried: Profile): { pick: Endpoint | undefined; runnerUp: string } => {
    const { picks, runnerUp } = runProfile(tried, engine.view.pipeline.handler.stageOf(profile.name), request, candidates, engine.view)
    return { pick: picks[0], runnerUp }
  }
  const now = run(profile)
  const pick = now.pick
  if (pick === undefined || now.runnerUp === '' || profile.scorers.length === 0) return []
  const flip = (kind: Flip['kind'], endpoint: string, dial: Dial, tried: (value: number) => Profile): Flip => {
    const pickAt = (value: number): string => {
      dial.set(value)
      return run(tried(value)).pick?.id ?? ''
    }
    const to = nearestFlip({ ...dial, flipped: (value) => pickAt(value) !== pick.id })
    const picks = to === undefined ? '' : pickAt(to)
    dial.set(dial.from)
    const scale = dial.from === 0 ? dial.high - dial.low : Math.abs(dial.from)
    return { profile: profile.name, kind, name: dial.name, endpoint, from: dial.from, to, picks, relative: to === undefined ? Infinity : Math.abs(to - dial.from) / scale }
  }
  const weights = profile.scorers.map(({ scorer, weight }, i) => {
    const dial: Dial = { name: scorer.typedName.name, from: weight, low: 0, high: Math.max(1, weight) * REACH, whole: false, set: () => undefined }
    return flip('weight', '', dial, (value) => ({ ...profile, scorers: profile.scorers.map((each, j) => (j === i ? { ...each, weight: value } : each)) }))
  })
  const runnerUp = candidates.find(({ id }) => id === now.runnerUp)
  const attributes = [pick, ...(runnerUp === undefined ? [] : [runnerUp])].flatMap((endpoint) =>
    [...reported(endpoint), ...produced(engine, endpoint, candidates)].map((dial) => flip('attribute', endpoint.id, dial, () => profile)))
  return [...weights, ...attributes]
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
  return typeof total === 'number' && field.endsWith('Blocks') ? total : Math.max(8, from) * REACH
}

const shortKey = (key: string): string => key.replace(/DataKey.*$/, '').replace(/\/.*$/, '')

const provide = (column: Column<unknown>, values: ReadonlyMap<Endpoint, unknown>, changed: Endpoint, value: unknown): void =>
  column.provide((endpoint) => (endpoint === changed ? value : values.get(endpoint)))
