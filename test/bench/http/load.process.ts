// The clients, a process of their own. Takes one piece of work at a time and answers with what it measured.
import { Pool } from 'undici'

export interface LoadWork {
  readonly origin: string
  readonly path: string
  readonly body: string
  readonly seconds: number
  /** Requests a second, sent at their times whatever is still open; or so many at once, each after the one before. */
  readonly load: { readonly perSecond: number } | { readonly atOnce: number }
}

export interface LoadResult {
  /** From the time at which a request was due, in ms. */
  readonly firstByteMs: readonly number[]
  readonly lastByteMs: readonly number[]
  readonly failed: number
  readonly seconds: number
}

const pools = new Map<string, Pool>()

const run = (work: LoadWork): Promise<LoadResult> => {
  const pool = pools.get(work.origin) ?? new Pool(work.origin, { headersTimeout: 0, bodyTimeout: 0 })
  pools.set(work.origin, pool)
  const firstByteMs: number[] = []
  const lastByteMs: number[] = []
  let failed = 0
  let open = 0
  const start = performance.now()
  const end = start + work.seconds * 1000
  return new Promise((resolve) => {
    const over = (): void => {
      open--
      const now = performance.now()
      if ('atOnce' in work.load && now < end) send(now)
      else if (open === 0 && now >= end) resolve({ firstByteMs, lastByteMs, failed, seconds: (now - start) / 1000 })
    }
    const send = (due: number): void => {
      open++
      let hasBytes = false
      pool.dispatch({ method: 'POST', path: work.path, headers: { 'content-type': 'application/json', authorization: 'Bearer bench', 'user-agent': 'bench/1.0', accept: '*/*' }, body: work.body }, {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, status) => {
          if (status !== 200) failed++
        },
        onResponseData: () => {
          if (hasBytes) return
          hasBytes = true
          firstByteMs.push(performance.now() - due)
        },
        onResponseEnd: () => {
          lastByteMs.push(performance.now() - due)
          over()
        },
        onResponseError: () => {
          failed++
          over()
        },
      })
    }
    if ('atOnce' in work.load) {
      for (let i = 0; i < work.load.atOnce; i++) send(performance.now())
      return
    }
    const everyMs = 1000 / work.load.perSecond
    let due = start
    const tick = (): void => {
      const now = performance.now()
      while (due <= now && due < end) {
        send(due)
        due += everyMs
      }
      if (due < end) setTimeout(tick, Math.max(0, due - performance.now()))
    }
    tick()
  })
}

process.on('message', (work: LoadWork) => {
  void run(work).then((result) => process.send?.(result))
})
process.on('disconnect', () => {
  process.exit(0)
})
