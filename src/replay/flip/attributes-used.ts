import type { Consumption, Plugin } from '../../core/contract.ts'
import { ACTIVE_MODELS, KV_CACHE_USAGE, keyText, RUNNING_REQUESTS_SIZE, WAITING_QUEUE_SIZE } from '../../core/attribute.ts'
import type { DataKey } from '../../core/attribute.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import type { Request } from '../../core/request.ts'
import type { Engine } from '../../engine/engine.ts'
import type { EngineOptions } from '../../engine/context.ts'
import type { StateAt } from '../../journal/state-message.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { atDecision } from './at-decision.ts'
import { stagesOf } from './stages.ts'

/** An attribute of an endpoint that a decision went by. */
export interface AttributeUse {
  readonly profile: string
  /** Plugins that say they read it. */
  readonly plugins: readonly string[]
  readonly name: string
  readonly endpoint: string
  readonly value: string
  /** Microseconds since it was heard; 0 where it was made for this very decision, -1 where it never was heard. */
  readonly ageUs: number
}

/** What the endpoints tell of themselves, by the key under which plugins ask for it. */
const REPORTED: ReadonlyMap<string, readonly [name: string, read: (endpoint: Endpoint) => string]> = new Map([
  [keyText(WAITING_QUEUE_SIZE), ['waitingQueueSize', (endpoint: Endpoint) => String(endpoint.waitingQueueSize)]],
  [keyText(RUNNING_REQUESTS_SIZE), ['runningRequestsSize', (endpoint: Endpoint) => String(endpoint.runningRequestsSize)]],
  [keyText(KV_CACHE_USAGE), ['kvCacheUsage', (endpoint: Endpoint) => String(endpoint.kvCacheUsage)]],
  [keyText(ACTIVE_MODELS), ['activeModels', (endpoint: Endpoint) => String(endpoint.activeModels.size)]],
])

/**
 * The attributes that the filters, scorers and deciders of a decision read of each profile's pick and runner-up, with their
 * values and ages at that moment.
 */
export const attributesUsed = (options: EngineOptions, before: StateAt, record: JournalRecord, request: number): AttributeUse[] => {
  const found: AttributeUse[] = []
  atDecision(options, before, record, request, (engine, scheduled, candidates) => found.push(...usedIn(engine, scheduled, candidates)))
  return found
}

const usedIn = (engine: Engine, request: Request, candidates: readonly Endpoint[]): AttributeUse[] => {
  const { pipeline } = engine.view
  return [...stagesOf(engine, request, candidates, (profile) => profile)].flatMap(([name, { stage, pick, runnerUp }]) => {
    const profile = pipeline.profiles.get(name)
    if (profile === undefined) return []
    // Deciders are asked about the endpoint chosen for decode.
    const readers = readersOf([...profile.filters, ...profile.scorers.map(({ scorer }) => scorer), ...(stage === 'decode' ? pipeline.deciders : [])])
    const endpoints = [pick, candidates.find(({ id }) => id === runnerUp)].filter((each): each is Endpoint => each !== undefined)
    return [...readers].flatMap(([text, { key, plugins }]) => endpoints.flatMap((endpoint): AttributeUse[] => {
      const told = REPORTED.get(text)
      if (told !== undefined) return [{ profile: name, plugins, name: told[0], endpoint: endpoint.id, value: told[1](endpoint), ageUs: endpoint.heardAt === 0 ? -1 : engine.at - endpoint.heardAt }]
      const value = pipeline.columns.get(text)?.get(endpoint)
      return value === undefined ? [] : [{ profile: name, plugins, name: key.dataType.replace(/DataKey$/, ''), endpoint: endpoint.id, value: valueText(value), ageUs: 0 }]
    }))
  })
}

interface Readers {
  readonly key: DataKey<unknown>
  readonly plugins: string[]
}

/** Who reads what, by the text of the key. */
const readersOf = (plugins: readonly Plugin[]): ReadonlyMap<string, Readers> => {
  const found = new Map<string, Readers>()
  for (const plugin of plugins) {
    const consumed: Consumption | undefined = plugin.consumes?.()
    for (const key of [...(consumed?.required ?? []), ...(consumed?.optional ?? [])]) {
      const readers = found.get(keyText(key)) ?? { key, plugins: [] }
      found.set(keyText(key), readers)
      if (!readers.plugins.includes(plugin.typedName.name)) readers.plugins.push(plugin.typedName.name)
    }
  }
  return found
}

const valueText = (value: unknown): string => {
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value).filter(([, each]) => typeof each === 'number').map(([name, each]) => `${name} ${String(each)}`).join(', ')
}
