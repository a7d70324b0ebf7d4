import { keyText } from '../../../core/attribute.ts'
import type { Consumption, PreRequest, ResponseHeader, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request, SchedulingResult } from '../../../core/request.ts'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { SessionBindings } from './session-bindings.ts'
import type { SessionAffinitySettings } from './settings.ts'

/** What the filter and the scorer share: knowing which endpoint a request's session is bound to, and binding it. */
export class SessionAffinity implements PreRequest, ResponseHeader {
  readonly typedName: TypedName
  readonly settings: SessionAffinitySettings
  private readonly bindings: SessionBindings
  private services: Services | undefined = undefined
  /** Whether a profile run of the request in hand saw its bound endpoint; all of that happens in one turn. */
  private sighting: { readonly key: number; seen: boolean } = { key: -1, seen: false }

  constructor(typedName: TypedName, settings: SessionAffinitySettings) {
    this.typedName = typedName
    this.settings = settings
    this.bindings = settings.strategy === 'session_id' ? new SessionBindings(settings.evictionTtlSeconds, settings.evictionSweepSeconds) : new SessionBindings(1, 1)
  }

  consumes(): Consumption {
    const { settings } = this
    const sources = settings.strategy === 'session_id' ? settings.sources : []
    return { required: [], optional: sources.flatMap((source) => ('attribute' in source ? [source.attribute] : [])) }
  }

  receives(): readonly string[] {
    const { settings } = this
    if (settings.strategy === 'encoded_endpoint_header') return [settings.header]
    return settings.sources.flatMap((source) => ('header' in source ? [source.header] : []))
  }

  setup(services: Services): void {
    this.services = services
  }

  /** Where among the candidates the bound endpoint is; -1 when it is not there or nothing is bound. */
  protected indexOfBound(request: Request, candidates: readonly Endpoint[]): number {
    const id = this.boundTo(request)
    const index = id === undefined ? -1 : candidates.findIndex((endpoint) => endpoint.id === id)
    if (this.sighting.key !== request.key) this.sighting = { key: request.key, seen: false }
    if (index >= 0) this.sighting.seen = true
    return index
  }

  /** Binds a new session, keeps a bound one, and moves one whose endpoint was not among the candidates. */
  preRequest(request: Request, result: SchedulingResult): void {
    if (this.settings.strategy !== 'session_id' || this.services === undefined) return
    const session = this.sessionOf(request)
    const target = this.targetOf(result)
    if (session === '' || target === undefined) return
    const now = this.services.now()
    const bound = this.bindings.endpointOf(session, now)
    const stays = bound !== undefined && this.sighting.key === request.key && this.sighting.seen
    this.bindings.bind(session, stays ? bound : target.id, now)
    this.sighting = { key: -1, seen: false }
  }

  /** Gives the client the token that brings it back. */
  responseHeaders(_request: Request, result: SchedulingResult): ReadonlyMap<string, string> {
    const target = this.targetOf(result)
    if (this.settings.strategy !== 'encoded_endpoint_header' || target === undefined) return new Map()
    return new Map([[this.settings.header, encodeBase64(target.id)]])
  }

  save(): Uint8Array {
    return this.bindings.save()
  }

  load(state: Uint8Array): void {
    this.bindings.load(state)
  }

  private boundTo(request: Request): string | undefined {
    const { settings } = this
    if (settings.strategy === 'encoded_endpoint_header') return decodeBase64(request.received.get(settings.header) ?? '') || undefined
    const session = this.sessionOf(request)
    return session === '' ? undefined : this.bindings.endpointOf(session, this.services?.now() ?? 0)
  }

  private sessionOf(request: Request): string {
    if (this.settings.strategy !== 'session_id') return ''
    for (const source of this.settings.sources) {
      const value = 'header' in source ? request.received.get(source.header) : request.attributes.get(keyText(source.attribute))
      if (typeof value === 'string' && value.trim() !== '') return value.trim()
    }
    return ''
  }

  private targetOf(result: SchedulingResult): Endpoint | undefined {
    return result.results.get(this.settings.profileName || result.primary)?.endpoints[0]
  }
}
