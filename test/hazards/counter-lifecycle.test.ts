import { expect } from 'vitest'
import type { Scorer } from '../../src/core/contract.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { Request } from '../../src/core/request.ts'
import { concurrencyDetector, type ConcurrencyDetector } from '../../src/plugins/detector/concurrency-detector/index.ts'
import { utilizationDetector, type UtilizationDetector } from '../../src/plugins/detector/utilization-detector/index.ts'
import { inflightLoadProducer, type InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { activeRequestScorer } from '../../src/plugins/scorer/active-request-scorer/index.ts'
import { singleProfile } from '../story/configuration.ts'
import { ended, failed, joined, received, sent, started } from '../story/inputs.ts'
import { target, World } from '../story/world.ts'
import { Desk, endpoint, make, request, scores, step } from '../unit/plugins/given.ts'
import hazards from './cases/counter-lifecycle.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

const producer = (desk = new Desk(), addEstimatedOutputTokens = true): InFlightLoadProducer => make(inflightLoadProducer, { addEstimatedOutputTokens }, desk)

const route = (of: InFlightLoadProducer, r: Request, ...targets: readonly (readonly [string, Endpoint])[]): void =>
  of.preRequest(r, { primary: targets.at(-1)?.[0] ?? '', results: new Map(targets.map(([profile, to]) => [profile, { endpoints: [to] }])) })

const end = (of: InFlightLoadProducer, r: Request): void => of.responseBody(r, step(false, true))

const load = (of: InFlightLoadProducer, { id }: Endpoint): readonly [number, number] => [of.requestsOn(id), of.tokensOn(id)]

const unmatched = (desk: Desk): number | undefined => desk.metric('inflight_unmatched_releases_total', { producer_name: 'inflight-load-producer' })

/** The endpoint leaves, and another life of it joins under the same id. */
const flap = (of: InFlightLoadProducer, old: Endpoint): Endpoint => {
  of.endpointRemoved(old)
  const next = endpoint('e')
  of.endpointAdded(next)
  return next
}

checkHazards('hazards of counters', hazards.cases, {
  'BUG-001': () => {
    const one = producer()
    const first = endpoint('e')
    const [a, b] = [request({ tokens: 4 }), request({ tokens: 4 })]
    route(one, a, ['default', first])
    const second = flap(one, first)
    route(one, b, ['default', second])
    end(one, a)
    expect(load(one, second)).toEqual([1, 10])
    end(one, b)
    expect(load(one, second)).toEqual([0, 0])
    const crashed = Array.from({ length: 8 }, () => request({ tokens: 4 }))
    for (const r of crashed) route(one, r, ['default', second])
    const third = flap(one, second)
    route(one, request({ tokens: 4 }), ['default', third])
    for (const r of crashed) {
      end(one, r)
      expect(load(one, third)[0]).toBe(1)
    }
  },
  'BUG-003': () => {
    const desk = new Desk()
    const one = producer(desk)
    const detector = make<ConcurrencyDetector>(concurrencyDetector, { maxConcurrency: 10 }, desk)
    const e = endpoint('e')
    for (let i = 0; i < 5; i++) route(one, request(), ['default', e])
    expect(detector.saturation([undefined, e])).toBe(0.5)
    expect(detector.filter(request(), [undefined, e])).toEqual([e])
  },
  'BUG-006': () => {
    const one = producer()
    const [a, b] = [endpoint('a'), endpoint('b')]
    const r = request({ tokens: 4 })
    route(one, r, ['prefill', a], ['decode', b])
    end(one, r)
    expect([load(one, a), load(one, b)]).toEqual([[0, 0], [0, 0]])
  },
  'BUG-007': () => {
    const desk = new Desk()
    const one = producer(desk)
    end(one, request({ tokens: 4096 }))
    expect(one.dump().endpoints).toEqual([])
    expect(unmatched(desk)).toBe(1)
    // What is released is what was assigned, so no release is larger than its assignment.
    const [small, large] = [request({ tokens: 20 }), request({ tokens: 40 })]
    const e = endpoint('e')
    route(one, small, ['default', e])
    route(one, large, ['default', e])
    end(one, small)
    expect(load(one, e)).toEqual([1, 100])
  },
  'BUG-022': () => {
    const desk = new Desk()
    const one = producer(desk)
    const e = endpoint('e')
    const running = Array.from({ length: 5 }, () => request({ tokens: 4 }))
    for (const r of running) route(one, r, ['default', e])
    const detector = make<UtilizationDetector>(utilizationDetector, undefined, desk)
    for (let cycle = 0; cycle < 10; cycle++) {
      one.endpointAdded(e)
      detector.saturation([e], cycle)
    }
    expect(load(one, e)[0]).toBe(5)
    for (const r of running) end(one, r)
    expect(load(one, e)).toEqual([0, 0])
  },
  'BUG-023': () => {
    const world = new World(singleProfile())
    world.take(joined('w'))
    const keys = ['r1', 'r2', 'r3'].map((id) => world.request(received(id)).key)
    world.take(joined('v'), ...keys.map((key) => sent(key)))
    world.take(failed(keys[2] ?? 0, 1, 'w', 'unavailable'))
    expect(world.inFlight()).toEqual({ w: 2, v: 1 })
    world.take(sent(keys[2] ?? 0, 2), started(keys[2] ?? 0, 2), ended(keys[2] ?? 0, 2))
    expect(world.inFlight()).toEqual({ w: 2 })
  },
  'BUG-024': () => {
    const desk = new Desk()
    const one = producer(desk)
    const e = endpoint('e')
    one.endpointAdded(e)
    end(one, request())
    expect(load(one, e)).toEqual([0, 0])
    expect(unmatched(desk)).toBe(1)
  },
  'BUG-030': () => {
    const desk = new Desk()
    const one = producer(desk)
    const e = endpoint('e')
    const r = request({ tokens: 4 })
    route(one, r, ['default', e])
    end(one, r)
    end(one, r)
    expect(load(one, e)).toEqual([0, 0])
    expect(desk.observations.filter(({ name, value }) => name === 'inflight_requests' && value === 0)).toHaveLength(1)
  },
  'BUG-031': () => {
    const world = new World(singleProfile({ timeouts: { producerMs: 400, sentMs: 120_000, firstTokenMs: 600_000, silenceMs: 300_000 } }))
    world.take(joined('w'))
    world.request(received('orphan'))
    for (let minute = 0; minute < 10; minute++) {
      const { key } = world.request(received(`r${minute}`))
      world.take(sent(key), started(key), ended(key)).pass(60_000)
    }
    expect(world.inFlight()).toEqual({})
  },
  'BUG-034': () => {
    const desk = new Desk()
    const one = producer(desk)
    const detector = make<ConcurrencyDetector>(concurrencyDetector, { maxConcurrency: 1 }, desk)
    const both = [endpoint('a'), endpoint('b')]
    for (const e of both) {
      const r = request()
      route(one, r, ['default', e])
      end(one, r)
    }
    expect(detector.saturation(both)).toBe(0)
    expect(detector.filter(request(), both)).toEqual(both)
    expect(scores(make<Scorer>(activeRequestScorer, undefined, desk), both)).toEqual([1, 1])
  },
  'BUG-035': () => {
    const world = new World(singleProfile())
    world.take(joined('a'), joined('b'))
    const { key, decision } = world.request(received('r'))
    const first = target(decision)
    const second = first === 'a' ? 'b' : 'a'
    expect(world.inFlight()).toEqual({ [first]: 1 })
    world.take(failed(key, 1, first))
    expect(world.inFlight()).toEqual({ [second]: 1 })
    world.take(sent(key, 2), started(key, 2), ended(key, 2))
    expect(world.inFlight()).toEqual({})
  },
})
