import { describe, expect, it } from 'vitest'
import { disaggregated, singleProfile } from '../../story/configuration.ts'
import { aborted, draining, ended, engineStarted, failed, joined, left, progressed, prompt, received, sent, started, telemetry } from '../../story/inputs.ts'
import { stages, target, World } from '../../story/world.ts'

const fleet = (): World => new World(singleProfile()).take(joined('a'), joined('b'))

describe('a request from arrival to end', () => {
  it('goes to the endpoint with the shorter queue', () => {
    const world = fleet().take(telemetry([{ slot: 0, waiting: 9 }, { slot: 1, waiting: 1 }]))
    const { decision } = world.request(received('r1'))
    expect(target(decision)).toBe('b')
  })

  it('is counted on its endpoint until it ends, once', () => {
    const world = fleet().take(telemetry([{ slot: 0, waiting: 9 }, { slot: 1, waiting: 1 }]))
    const { key } = world.request(received('r1'))
    expect(world.inFlight()).toEqual({ b: 1 })
    world.take(sent(key), started(key), progressed(key, 5))
    expect(world.inFlight()).toEqual({ b: 1 })
    world.take(ended(key), ended(key), aborted(key), ended(key))
    expect(world.inFlight()).toEqual({})
    expect(world.engine.view.requests.size).toBe(0)
  })

  it('may lose every report but the last', () => {
    const world = fleet()
    const { key } = world.request(received('r1'))
    world.take(ended(key))
    expect(world.inFlight()).toEqual({})
  })

  it('shares its id with another live request without sharing anything else', () => {
    const world = fleet()
    const one = world.request(received('same'))
    const two = world.request(received('same'))
    world.take(ended(one.key))
    expect(Object.values(world.inFlight())).toEqual([1])
    world.take(ended(two.key))
    expect(world.inFlight()).toEqual({})
  })

  it('is refused with 503 when there are no endpoints', () => {
    const { decision } = new World(singleProfile()).request(received('r1'))
    expect(decision.outcome).toBe('rejected')
    expect(decision.rejection).toMatchObject({ status: 503, reason: 'rejected-no-endpoints' })
  })

  it('is refused with 429 when the filters leave nobody', () => {
    const world = new World(disaggregated()).take(joined('p', 'prefill'))
    const { decision } = world.request(received('r1'))
    expect(decision.rejection).toMatchObject({ status: 429, reason: 'rejected-saturated' })
  })

  it('expires when nobody says that it was sent, and is answered 504', () => {
    const world = fleet()
    const { key } = world.request(received('r1'))
    world.pass(30_001)
    expect(world.effects.find((effect) => effect.kind === 'expired')).toMatchObject({ request: key, denial: { status: 504 } })
    expect(world.inFlight()).toEqual({})
  })

  it('lives as long as it gives signs of life', () => {
    const world = fleet()
    const { key } = world.request(received('r1'))
    world.take(sent(key), started(key))
    for (let minute = 0; minute < 30; minute += 1) world.pass(60_000).take(progressed(key, minute))
    expect(world.engine.view.requests.size).toBe(1)
    world.pass(300_001)
    expect(world.engine.view.requests.size).toBe(0)
  })
})

describe('a failed attempt', () => {
  it('goes to another endpoint, is counted there and no longer here', () => {
    const world = fleet().take(telemetry([{ slot: 0, waiting: 0 }, { slot: 1, waiting: 9 }]))
    const { key, decision } = world.request(received('r1'))
    expect(target(decision)).toBe('a')
    const { record } = world.step(failed(key, 1, 'a'))
    expect(record.decisions.map((each) => [each.attempt, target(each)])).toEqual([[2, 'b']])
    expect(world.inFlight()).toEqual({ b: 1 })
  })

  it('is the last when attempts or endpoints have run out', () => {
    const world = fleet()
    const { key, decision } = world.request(received('r1'))
    const [first, second] = target(decision) === 'a' ? ['a', 'b'] : ['b', 'a']
    world.take(failed(key, 1, first ?? ''))
    const { record, effects } = world.step(failed(key, 2, second ?? '', 'reset'))
    expect(record.decisions[0]).toMatchObject({ outcome: 'failed', rejection: { status: 502 } })
    expect(effects.some((effect) => effect.kind === 'rejected')).toBe(true)
    expect(world.inFlight()).toEqual({})
  })

  it('is not repeated once bytes have come', () => {
    const world = fleet()
    const { key, decision } = world.request(received('r1'))
    world.take(sent(key), started(key))
    const { record } = world.step(failed(key, 1, target(decision), 'truncated', true))
    expect(record.decisions[0]).toMatchObject({ outcome: 'failed' })
  })

  it('of an earlier attempt, told late, changes nothing', () => {
    const world = fleet()
    const { key, decision } = world.request(received('r1'))
    world.take(failed(key, 1, target(decision)))
    const before = world.inFlight()
    world.take(failed(key, 1, target(decision)), ended(key, 1))
    expect(world.inFlight()).toEqual(before)
  })
})

describe('an endpoint', () => {
  const fail = (world: World, times: number): void => {
    for (let i = 0; i < times; i += 1) {
      const { key } = world.request(received('r', { subset: { addresses: ['10.0.0.1:8001'] } }))
      world.take(failed(key, 1, 'a', 'connect', false))
    }
  }
  const twoAddresses = (): World => {
    const world = new World(singleProfile())
    const a = joined('a')
    if (a.input?.kind === 'endpointJoined' && a.input.value.endpoint !== undefined) a.input.value.endpoint.port = 8001
    return world.take(a, joined('b'))
  }

  it('is taken out after three failed attempts in a row and brought back after a second', () => {
    const world = twoAddresses()
    fail(world, 2)
    expect(world.machineOf('a')).toContain('reachability.reachable')
    fail(world, 1)
    expect(world.machineOf('a')).toContain('unreachable')
    for (let i = 0; i < 5; i += 1) expect(target(world.request(received(`r${i}`)).decision)).toBe('b')
    world.pass(1001)
    expect(world.machineOf('a')).toContain('reachability.reachable')
  })

  it('stays out for longer each time, at most half a minute', () => {
    const world = twoAddresses()
    fail(world, 3)
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      world.pass(seconds * 1000 - 1)
      expect(world.machineOf('a')).toContain('unreachable')
      world.pass(1)
      expect(world.machineOf('a')).toContain('reachability.reachable')
      fail(world, 1)
    }
  })

  it('serves although unreachable when no other is left', () => {
    const world = twoAddresses()
    fail(world, 3)
    world.take(left('b'))
    expect(target(world.request(received('r')).decision)).toBe('a')
  })

  it('gets nothing more while it drains, and what it has goes on', () => {
    const world = fleet().take(telemetry([{ slot: 0, waiting: 0 }, { slot: 1, waiting: 9 }]))
    const { key } = world.request(received('r1'))
    world.take(draining('a'))
    expect(target(world.request(received('r2')).decision)).toBe('b')
    expect(world.inFlight()).toEqual({ a: 1, b: 1 })
    world.take(ended(key))
    expect(world.inFlight()).toEqual({ b: 1 })
  })

  it('that leaves and comes back starts from nothing, and late ends do not touch it', () => {
    const world = new World(singleProfile()).take(joined('a', '', '1'))
    const old = world.request(received('r1')).key
    world.take(left('a'), joined('a', '', '2'))
    expect(world.inFlight()).toEqual({})
    world.request(received('r2'))
    world.take(ended(old))
    expect(world.inFlight()).toEqual({ a: 1 })
  })

  it('goes stale when it is silent, and fresh again when it is heard', () => {
    const world = fleet().take(telemetry([{ slot: 0 }]))
    expect(world.machineOf('a')).toContain('freshness.fresh')
    world.pass(3500)
    expect(world.machineOf('a')).toContain('freshness.stale')
    world.take(telemetry([{ slot: 0 }]))
    expect(world.machineOf('a')).toContain('freshness.fresh')
    expect(world.machineOf('b')).toContain('freshness.unknown')
  })
})

describe('a restart', () => {
  it('ends proxied requests in its first turn and leaves advised ones', () => {
    const world = fleet()
    const proxied = world.request(received('p')).key
    const advised = world.request(received('a', { proxied: false, frontDoor: 'nats' })).key
    const { effects } = world.step(engineStarted(singleProfile()))
    expect(effects.filter((effect) => effect.kind === 'closed')).toMatchObject([{ request: proxied, cause: 'scheduler-restarted' }])
    expect([...world.engine.view.requests.keys()]).toEqual([advised])
    expect(Object.values(world.inFlight())).toEqual([1])
    world.take(ended(advised))
    expect(world.inFlight()).toEqual({})
  })

  it('under another configuration keeps endpoints and load', () => {
    const world = fleet()
    const { key } = world.request(received('a', { proxied: false }))
    world.take(engineStarted(disaggregated()))
    expect(Object.values(world.inFlight())).toEqual([1])
    world.take(ended(key))
    expect(world.inFlight()).toEqual({})
  })
})

describe('stages', () => {
  const trio = (): World => new World(disaggregated(512)).take(joined('d', 'decode'), joined('p', 'prefill'), joined('e', 'encode'))

  it('a short prompt is decoded only', () => {
    const { decision } = trio().request(received('r', { shape: { tokenized: true, prompts: [prompt(256)], problem: '' } }))
    expect(decision.decisionType).toBe('decode-only')
    expect(stages(decision)).toEqual({ decode: ['d'] })
  })

  it('a long uncached prompt is prefilled elsewhere, and is counted on both', () => {
    const world = trio()
    const { decision, key } = world.request(received('r', { shape: { tokenized: true, prompts: [prompt(4096)], problem: '' } }))
    expect(decision.decisionType).toBe('prefill-decode')
    expect(stages(decision)).toEqual({ decode: ['d'], prefill: ['p'] })
    expect(decision.headers).toContainEqual({ name: 'x-prefiller-host-port', value: '10.0.0.1:8000' })
    expect(world.inFlight()).toEqual({ d: 1, p: 1 })
    world.take(ended(key))
    expect(world.inFlight()).toEqual({})
  })

  it('the same long prompt again is cached and decoded only', () => {
    const world = trio()
    const shape = { tokenized: true, prompts: [prompt(4096)], problem: '' }
    world.take(ended(world.request(received('r1', { shape })).key))
    expect(world.request(received('r2', { shape })).decision.decisionType).toBe('decode-only')
  })

  it('an image adds the encode stage', () => {
    const media = [{ modality: 'image', hash: 'ab', offset: 0, length: 225 }]
    const { decision } = trio().request(received('r', { shape: { tokenized: true, prompts: [{ ...prompt(4096), media }], problem: '' } }))
    expect(decision.decisionType).toBe('encode-prefill-decode')
    expect(stages(decision)).toEqual({ decode: ['d'], encode: ['e'], prefill: ['p'] })
  })
})
