import { emptyEndpointMetrics, emptyTelemetryReport } from '../../wire/index.ts'
import { isObject, jsonObject, textOf, wholeOf } from './json-fields.ts'
import type { JsonObject } from './json-fields.ts'
import type { EndpointMetrics, ModelCount, TelemetryReport } from '../../wire/index.ts'

const NUMBERS = ['waitingQueueSize', 'runningRequestsSize', 'kvCacheUsage', 'cacheBlockSize', 'cacheNumBlocks', 'maxActiveModels'] as const

/**
 * A telemetry report from JSON, its fields named as protobuf's JSON has them (waitingQueueSize, ...). Fields that are not
 * known are passed over; undefined where a known one is of the wrong kind.
 */
export const readTelemetryJson = (bytes: Uint8Array): TelemetryReport | undefined => {
  const given = jsonObject(bytes)
  if (given === undefined || !isObject(given['metrics'])) return undefined
  const endpoint = textOf(given['endpoint'])
  const incarnation = textOf(given['incarnation'])
  const sequence = wholeOf(given['sequence'])
  const metrics = readMetrics(given['metrics'])
  if (endpoint === undefined || incarnation === undefined || sequence === undefined || metrics === undefined) return undefined
  return { ...emptyTelemetryReport(), endpoint, incarnation, sequence, metrics }
}

const readMetrics = (given: JsonObject): EndpointMetrics | undefined => {
  const metrics = emptyEndpointMetrics()
  for (const name of NUMBERS) {
    const value = given[name]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number') return undefined
    metrics[name] = value
  }
  const active = modelsOf(given['activeModels'])
  const waiting = modelsOf(given['waitingModels'])
  if (active === undefined || waiting === undefined) return undefined
  metrics.activeModels = active
  metrics.waitingModels = waiting
  metrics.modelsReported = given['modelsReported'] === true || active.length > 0 || waiting.length > 0
  const custom = listOf(given['custom'], (each) => (typeof each['name'] === 'string' && typeof each['value'] === 'number' ? { name: each['name'], value: each['value'] } : undefined))
  if (custom === undefined) return undefined
  metrics.custom = custom
  return metrics
}

const modelsOf = (given: unknown): ModelCount[] | undefined =>
  listOf(given, ({ model, count = 0 }) => (typeof model === 'string' && isCount(count) ? { model, count } : undefined))

const listOf = <T>(given: unknown, read: (each: JsonObject) => T | undefined): T[] | undefined => {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) return undefined
  const list = given.map((each: unknown) => (isObject(each) ? read(each) : undefined)).filter((each) => each !== undefined)
  return list.length === given.length ? list : undefined
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff
