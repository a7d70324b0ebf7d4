import { MICROS_PER_S, type Instant } from '../../../core/instant.ts'
import { loadJson, saveJson } from '../../saved-json.ts'

interface Binding {
  readonly endpoint: string
  readonly usedAt: Instant
}

interface SavedBindings {
  readonly sweptAt: Instant
  readonly rows: readonly (readonly [session: string, endpoint: string, usedAt: Instant])[]
}

// About 20 MB of ids and entries; the session used longest ago goes first.
const SESSIONS_MAX = 100_000

/** Which endpoint each session is bound to, until it has not been used for a while. Held in order of use. */
export class SessionBindings {
  private readonly bindings = new Map<string, Binding>()
  private readonly lifetime: number
  private readonly sweepEvery: number
  private sweptAt: Instant = 0

  constructor(ttlSeconds: number, sweepSeconds: number) {
    this.lifetime = ttlSeconds * MICROS_PER_S
    this.sweepEvery = sweepSeconds * MICROS_PER_S
  }

  /** Id of the endpoint, unless the binding has run out. */
  endpointOf(session: string, now: Instant): string | undefined {
    const binding = this.bindings.get(session)
    return binding === undefined || now - binding.usedAt > this.lifetime ? undefined : binding.endpoint
  }

  bind(session: string, endpoint: string, now: Instant): void {
    this.bindings.delete(session)
    this.bindings.set(session, { endpoint, usedAt: now })
    const [oldest] = this.bindings.keys()
    if (this.bindings.size > SESSIONS_MAX && oldest !== undefined) this.bindings.delete(oldest)
    this.sweep(now)
  }

  save(): Uint8Array {
    const rows = [...this.bindings].map(([session, { endpoint, usedAt }]) => [session, endpoint, usedAt] as const)
    return saveJson({ sweptAt: this.sweptAt, rows } satisfies SavedBindings)
  }

  load(state: Uint8Array): void {
    const saved = loadJson(state, 'session bindings', isSaved)
    this.sweptAt = saved.sweptAt
    this.bindings.clear()
    for (const [session, endpoint, usedAt] of saved.rows) this.bindings.set(session, { endpoint, usedAt })
  }

  /** The first in order of use is the first to run out. */
  private sweep(now: Instant): void {
    if (now - this.sweptAt < this.sweepEvery) return
    this.sweptAt = now
    for (const [session, { usedAt }] of this.bindings) {
      if (now - usedAt <= this.lifetime) return
      this.bindings.delete(session)
    }
  }
}

const isSaved = (value: unknown): value is SavedBindings => {
  const saved = value as Partial<SavedBindings> | null | undefined
  return typeof saved?.sweptAt === 'number' && Array.isArray(saved.rows)
}
