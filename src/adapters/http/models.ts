import { Attempt } from './attempt.ts'
import type { Connections } from './connections.ts'
import type { Destination } from './scheduler-port.ts'

/** Endpoints asked at the same time. */
const MODELS_CONCURRENCY = 8
/** How long one endpoint may take to list its models, in ms. */
const MODELS_TIMEOUT_MS = 5000
/** Largest list taken from one endpoint, in bytes. */
const MODELS_BYTES_MAX = 4 * 1024 * 1024

/** A model as its endpoint describes it; only the id is looked at. */
type Model = Readonly<Record<string, unknown>> & { readonly id: string }

/** The models of all endpoints, each id once, as the first endpoint that names it does; undefined when none answered. */
export type ModelList = readonly Model[] | undefined

/**
 * Asks each endpoint for its models, a few at a time, in the order given, and joins the answers. An endpoint that does
 * not answer in time, or not with a list, counts as silent. Nothing is kept: what is asked for rarely need not be stale.
 * Calls `done` once unless the function returned is called before, which ends the asking.
 */
export const listModels = (
  connections: Connections, endpoints: readonly Destination[], headers: readonly string[], done: (models: ModelList) => void,
): (() => void) => {
  const answers: ModelList[] = endpoints.map(() => undefined)
  const running = new Set<() => void>()
  let next = 0
  let left = endpoints.length
  const askNext = (): void => {
    const at = next++
    const endpoint = endpoints[at]
    if (endpoint === undefined) return
    const stop = ask(connections, endpoint.hostPort, headers, (models) => {
      running.delete(stop)
      answers[at] = models
      left--
      if (left === 0) done(joined(answers))
      else askNext()
    })
    running.add(stop)
  }
  if (left === 0) done(undefined)
  for (let i = 0; i < MODELS_CONCURRENCY; i++) askNext()
  return () => {
    for (const stop of running) stop()
    running.clear()
  }
}

const ask = (connections: Connections, hostPort: string, headers: readonly string[], done: (models: ModelList) => void): (() => void) => {
  const chunks: Buffer[] = []
  let bytes = 0
  let status = 0
  const finish = (models: ModelList): void => {
    clearTimeout(timer)
    done(models)
  }
  const attempt = new Attempt(
    connections,
    { hostPort, method: 'GET', path: '/v1/models', headers: [...headers], body: undefined },
    {
      sent: () => undefined,
      head: (value) => {
        status = value
      },
      data: (chunk) => {
        bytes += chunk.length
        if (bytes <= MODELS_BYTES_MAX) chunks.push(chunk)
        else giveUp()
      },
      end: () => {
        finish(status === 200 ? modelsOf(Buffer.concat(chunks)) : undefined)
      },
      failed: () => {
        finish(undefined)
      },
    },
    () => undefined,
  )
  const giveUp = (): void => {
    attempt.abort()
    finish(undefined)
  }
  const timer = setTimeout(giveUp, MODELS_TIMEOUT_MS)
  // Not in this turn: the caller does not have the function that stops it yet.
  queueMicrotask(() => {
    attempt.start()
  })
  return () => {
    clearTimeout(timer)
    attempt.abort()
  }
}

const joined = (answers: readonly ModelList[]): ModelList => {
  if (answers.every((models) => models === undefined)) return undefined
  const byId = new Map<string, Model>()
  for (const models of answers) {
    for (const model of models ?? []) if (!byId.has(model.id)) byId.set(model.id, model)
  }
  return [...byId.values()]
}

const modelsOf = (body: Buffer): ModelList => {
  try {
    const list: unknown = JSON.parse(body.toString())
    const data: unknown = typeof list === 'object' && list !== null && 'data' in list ? list.data : undefined
    return Array.isArray(data) ? data.filter(isModel) : undefined
  } catch {
    return undefined
  }
}

const isModel = (value: unknown): value is Model =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
