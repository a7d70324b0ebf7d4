// The clients, a process of their own. Takes one piece of work at a time and answers with what it measured.
import { Pool } from 'undici'

export interface LoadWork {
  /** More than one take turns, request by request, so that what else happens on the machine meets all alike. */
  readonly origins: readonly string[]
  readonly path: string
  readonly body: string
  readonly seconds: number
  /** Requests a second to each origin, sent at their times whatever is still open; or so many at once, each after the one before. */
  readonly load: { readonly perSecond: number } | { readonly atOnce: number }
}

/** Of one origin; times in ms, from when a request was due. */
export interface LoadResult {
  readonly firstByteMs: number[]
  readonly lastByteMs: number[]
  failed: number
  seconds: number
}

const pools = new Map<string, Pool>()
const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer bench', 'user-agent': 'bench/1.0', accept: '*/*' }

const send = (pool: Pool, work: LoadWork, due: number, result: LoadResult, over: () => void): void => {
  let hasBytes = false
  pool.dispatch({ method: 'POST', path: work.path, headers: HEADERS, body: work.body }, {
    onRequestStart: () => undefined,
    onResponseStart: (_controller, status) => {
      if (status !== 200) result.failed++
    },
    onResponseData: () => {
      if (hasBytes) return
      hasBytes = true
      result.firstByteMs.push(performance.now() - due)
    },
    onResponseEnd: () => {
      result.lastByteMs.push(performance.now() - due)
      over()
    },
    onResponseError: () => {
      result.failed++
      over()
    },
  })
}

const run = (work: LoadWork): Promise<readonly LoadResult[]> => {
  const targets = work.origins.map((origin) => {
    const pool = pools.get(origin) ?? new Pool(origin, { headersTimeout: 0, bodyTimeout: 0 })
    pools.set(origin, pool)
    return { pool, result: { firstByteMs: [], lastByteMs: [], failed: 0, seconds: 0 } as LoadResult }
  })
  let open = 0
  let sent = 0
  const start = performance.now()
  const end = start + work.seconds * 1000
  return new Promise((resolve) => {
    const next = (due: number): void => {
      const target = targets[sent++ % targets.length]
      if (target === undefined) return
      open++
      send(target.pool, work, due, target.result, () => {
        open--
        const now = performance.now()
        if ('atOnce' in work.load && now < end) next(now)
        else if (open === 0 && now >= end) {
          for (const { result } of targets) result.seconds = (now - start) / 1000
          resolve(targets.map(({ result }) => result))
        }
      })
    }
    if ('atOnce' in work.load) {
      for (let i = 0; i < work.load.atOnce; i++) next(performance.now())
      return
    }
    const everyMs = 1000 / work.load.perSecond / targets.length
    let due = start
    const tick = (): void => {
      const now = performance.now()
      for (; due <= now && due < end; due += everyMs) next(due)
      if (due < end) setTimeout(tick, Math.max(0, due - performance.now()))
    }
    tick()
  })
}

process.on('message', (work: LoadWork) => {
  void run(work).then((results) => process.send?.(results))
})
process.on('disconnect', () => {
  process.exit(0)
})
