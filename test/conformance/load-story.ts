import { expect } from 'vitest'
import { fromProducer, IN_FLIGHT_LOAD, PREFIX_CACHE_MATCH_INFO, UNCACHED_REQUEST_TOKENS } from '../../src/core/attribute.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { ProfileResults, Request } from '../../src/core/request.ts'
import { inflightLoadProducer, type InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { Desk, endpoint, make, request, step as responseStep } from '../unit/plugins/given.ts'
import { matchInfo, schedulingResult } from './plugin-cases.ts'
import { expectMatch } from './runner.ts'

type Load = { readonly requests?: number; readonly tokens?: number }

interface Asked {
  readonly id: string
  readonly inputTokens: number
  readonly stream?: string
  readonly maxOutputTokens?: number
  readonly fairnessId?: string
  readonly priority?: number
}

type Profiles = Readonly<Record<string, { readonly endpoint?: string; readonly endpoints?: readonly (string | null)[]; readonly prefix?: readonly [number, number, number]; readonly metadata?: null } | null>> | null

interface Sample {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** One step of a story, as the file's `format` text describes it. */
export interface Step {
  readonly op: 'extract' | 'preRequest' | 'responseBody' | 'seed' | 'reap' | 'janitor' | 'endStream' | 'readAttribute' | 'produce' | 'releaseTokens' | 'repeat' | 'stateHas' | 'expect'
  readonly endpoint?: string | null
  readonly metadata?: null
  readonly instance?: string
  readonly event?: 'addOrUpdate' | 'delete'
  readonly producer?: string
  readonly profile?: string
  readonly request?: Asked | null
  readonly profiles?: Profiles
  readonly requestId?: string | null
  readonly response?: null
  readonly schedulingResult?: unknown
  readonly startOfStream?: boolean
  readonly endOfStream?: boolean
  readonly requests?: number
  readonly tokens?: number
  readonly stream?: string
  readonly endpoints?: readonly (string | null)[] | null
  readonly times?: number
  readonly steps?: readonly Step[]
  readonly expect?: Readonly<Record<string, Load>>
  readonly expectTouched?: boolean
  readonly expectFound?: boolean
  readonly expectSamples?: readonly Sample[]
  readonly expectAttribute?: { readonly InFlightLoad?: Load }
  readonly expectAttributes?: Readonly<Record<string, { readonly UncachedRequestTokens?: { readonly tokens: number } | null; readonly InFlightLoad?: Load | null }>>
}

/** What llm-d goes on counting after it has lost track of it; this producer does not. */
interface Leak {
  readonly request: string
  readonly endpoint: string
  readonly requests: number
  readonly tokens: number
  /** Whether dropping the request's state mends it. */
  readonly mended: boolean
}

const idOf = (name: string): string => (name.includes('/') ? name : `default/${name}`)

/**
 * Tells a story to the producer, under `release: llm-d`, and checks the counters after each step. llm-d's janitor has no
 * counterpart here: a request whose stream is gone gets its last step from the engine. Where llm-d leaks a count, the
 * number expected is the file's less what has leaked by then.
 */
export class LoadStory {
  private readonly desk = new Desk()
  private readonly settings: Readonly<Record<string, unknown>>
  private readonly producers = new Map<string, InFlightLoadProducer>()
  private readonly current = new Map<string, Endpoint>()
  private readonly instances = new Map<string, Endpoint>()
  /** The instance that was announced last, of endpoints that are there. */
  private readonly latest = new Map<string, string>()
  private readonly requests = new Map<string, Request>()
  private readonly streams = new Map<string, Request>()
  private leaks: Leak[] = []
  private seeds = 0

  constructor(settings: Readonly<Record<string, unknown>>) {
    this.settings = settings
  }

  tell(steps: readonly Step[]): void {
    for (const step of steps) {
      this.take(step)
      this.check(step)
    }
  }

  private producer(name = 'inflight-load-producer'): InFlightLoadProducer {
    let producer = this.producers.get(name)
    if (producer === undefined) {
      producer = make<InFlightLoadProducer>(inflightLoadProducer, { ...this.settings, release: 'llm-d' }, this.desk, [], name)
      this.producers.set(name, producer)
    }
    return producer
  }

  private take(step: Step): void {
    const producer = this.producer(step.producer)
    switch (step.op) {
      case 'extract':
        return this.extract(step, producer)
      case 'seed':
        return this.seed(step, producer)
      case 'preRequest':
        return this.preRequest(step, producer)
      case 'responseBody':
        return this.responseBody(step, producer)
      case 'reap':
        this.leaks = this.leaks.filter((leak) => leak.request !== step.requestId || !leak.mended)
        return producer.responseBody(this.requests.get(step.requestId ?? ''), responseStep(false, true))
      case 'endStream':
        return producer.responseBody(this.streams.get(step.stream ?? ''), responseStep(false, true))
      case 'releaseTokens':
        return producer.ledger.releasePrompt(this.requests.get(step.requestId ?? '')?.key ?? 0, step.profile)
      case 'produce':
        return producer.produce(step.request ? this.request(step.request) : undefined, (step.endpoints ?? []).map((name) => (name === null ? undefined : this.endpoint(name))))
      case 'repeat':
        for (let turn = 0; turn < (step.times ?? 0); turn++) this.tell(numbered(step.steps ?? [], turn))
        return
      default:
    }
  }

  private endpoint(name: string): Endpoint {
    const id = idOf(name)
    let found = this.current.get(id)
    if (found === undefined) {
      found = endpoint(name, { id })
      this.current.set(id, found)
    }
    return found
  }

  /**
   * llm-d knows endpoints by id: another object under an id that is there is an update of it, and a removal counts only
   * for the object that came last.
   */
  private extract({ endpoint: name, metadata, instance = '', event }: Step, producer: InFlightLoadProducer): void {
    // An engine never tells of an endpoint that is none.
    if (name === null || name === undefined || metadata === null) return
    const id = idOf(name)
    const known = this.endpoint(name)
    if (event === 'addOrUpdate') {
      this.latest.set(id, instance)
      this.instances.set(`${id} ${instance}`, known)
      producer.endpointAdded(known)
      return
    }
    const latest = this.latest.get(id)
    if (latest !== undefined && latest !== instance) {
      producer.endpointRemoved(endpoint(name, { id }))
      return
    }
    producer.endpointRemoved(known)
    this.latest.delete(id)
    this.current.delete(id)
    this.leaks = this.leaks.filter((leak) => leak.endpoint !== id)
  }

  /** Adds so many requests, the first with all the tokens. */
  private seed({ endpoint: name, requests = 0, tokens = 0 }: Step, producer: InFlightLoadProducer): void {
    for (let i = 0; i < requests; i++) {
      this.seeds += 1
      const results: ProfileResults = new Map([['seeded', { endpoints: [this.endpoint(name ?? '')] }]])
      const one = request({ tokens: i === 0 ? tokens : 0, maxOutputTokens: 0 })
      producer.preRequest(one, schedulingResult(results, 'seeded'))
    }
  }

  private request(asked: Asked): Request {
    const { id, inputTokens, stream, ...rest } = asked
    const known = this.requests.get(id)
    const made = request({ ...(known === undefined ? {} : { key: known.key }), id, tokens: inputTokens, ...rest })
    this.requests.set(id, made)
    if (stream !== undefined) this.streams.set(stream, made)
    return made
  }

  private preRequest({ request: asked, profiles }: Step, producer: InFlightLoadProducer): void {
    const one = asked ? this.request(asked) : undefined
    const results: ProfileResults = new Map()
    for (const [profile, given] of Object.entries(profiles ?? {})) {
      const names = given?.endpoints ?? (given?.endpoint === undefined ? [] : [given.endpoint])
      // An endpoint that is none stands for one without metadata too.
      const targets = names.map((name) => (name === null || given?.metadata === null ? undefined : this.endpoint(name)))
      const info = matchInfo(given?.prefix)
      for (const target of targets) if (target !== undefined && info !== undefined) this.desk.writer(PREFIX_CACHE_MATCH_INFO).put(target, info)
      results.set(profile, given === null ? null : { endpoints: targets as Endpoint[] })
      if (one !== undefined) this.noteOverwritten(one, profile, targets[0], producer)
    }
    producer.preRequest(one, profiles ? schedulingResult(results, 'default') : undefined)
  }

  /** llm-d counts again and forgets the first count. */
  private noteOverwritten(one: Request, profile: string, target: Endpoint | undefined, producer: InFlightLoadProducer): void {
    for (const held of producer.ledger.assignmentsOf(one.key)) {
      if (held.profile !== profile || held.endpoint !== target) continue
      const tokens = held.outputTokens + (producer.ledger.holdsPrompt(held) ? held.promptTokens : 0)
      this.leaks.push({ request: one.id, endpoint: held.endpoint.id, requests: 1, tokens, mended: false })
    }
  }

  private responseBody(step: Step, producer: InFlightLoadProducer): void {
    const one = step.requestId === null ? undefined : (this.requests.get(step.requestId ?? '') ?? request({ id: step.requestId ?? '' }))
    // Without a result attached llm-d releases nothing at the end.
    if (one !== undefined && step.endOfStream === true && step.schedulingResult === null) {
      for (const held of producer.ledger.assignmentsOf(one.key)) {
        const tokens = held.outputTokens + (producer.ledger.holdsPrompt(held) ? held.promptTokens : 0)
        this.leaks.push({ request: one.id, endpoint: held.endpoint.id, requests: 1, tokens, mended: true })
      }
    }
    const before = one === undefined ? 0 : producer.ledger.assignmentsOf(one.key).length
    producer.responseBody(one, step.response === null ? undefined : responseStep(step.startOfStream === true, step.endOfStream === true))
    // llm-d's middle chunks keep the janitor away; here they just change nothing.
    if (step.expectTouched === true && one !== undefined) expect(producer.ledger.assignmentsOf(one.key)).toHaveLength(before)
  }

  private check(step: Step): void {
    const producer = this.producer(step.producer)
    for (const [name, expected] of Object.entries(step.expect ?? {})) {
      const id = idOf(name)
      const leaked = this.leaks.filter((leak) => leak.endpoint === id)
      const actual = {
        requests: producer.requestsOn(id) + leaked.reduce((sum, leak) => sum + leak.requests, 0),
        tokens: producer.tokensOn(id) + leaked.reduce((sum, leak) => sum + leak.tokens, 0),
      }
      expectMatch(actual, expected, 0, name)
    }
    for (const { metric, labels, value } of step.expectSamples ?? []) expect(this.desk.metric(metric.replace(/^llm_d_epp_/, ''), labels), metric).toBe(value)
    if (step.expectAttribute !== undefined) this.checkLoad(producer, this.instances.get(`${idOf(step.endpoint ?? '')} ${step.instance ?? ''}`), step.expectAttribute.InFlightLoad)
    for (const [name, { UncachedRequestTokens, InFlightLoad }] of Object.entries(step.expectAttributes ?? {})) {
      const target = this.endpoint(name)
      const uncached = this.desk.reader(fromProducer(UNCACHED_REQUEST_TOKENS, producer.typedName.name)).get(target)
      if (UncachedRequestTokens !== undefined) expect(uncached ?? null).toEqual(UncachedRequestTokens)
      this.checkLoad(producer, target, InFlightLoad)
    }
    if (step.expectFound !== undefined) {
      const held = producer.ledger.assignmentsOf(this.requests.get(step.requestId ?? '')?.key ?? 0)
      expect(held.some(({ profile, endpoint: on }) => profile === step.profile && on.id === idOf(step.endpoint ?? ''))).toBe(step.expectFound)
    }
  }

  /** An endpoint that was never announced has no load in llm-d and a load of 0 here, which consumers take for the same. */
  private checkLoad(producer: InFlightLoadProducer, target: Endpoint | undefined, expected: Load | null | undefined): void {
    if (target === undefined || expected === undefined) return
    const load = this.desk.reader(fromProducer(IN_FLIGHT_LOAD, producer.typedName.name)).get(target)
    expectMatch({ ...load }, expected ?? { requests: 0, tokens: 0 }, 0)
  }
}

/** `req-*` becomes another id in each turn. */
const numbered = (steps: readonly Step[], turn: number): readonly Step[] =>
  JSON.parse(JSON.stringify(steps).replaceAll('-*"', `-${turn}"`)) as readonly Step[]
