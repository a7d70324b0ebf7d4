import { describe, expect, it } from 'vitest'
import type { ProfileHandler } from '../../../../src/core/contract.ts'
import type { ProfileResults } from '../../../../src/core/request.ts'
import { alwaysDisaggPdDecider } from '../../../../src/plugins/decider/always-disagg-pd-decider/index.ts'
import { dataParallelProfileHandler } from '../../../../src/plugins/profile-handler/data-parallel-profile-handler/index.ts'
import { disaggProfileHandler, type DisaggProfileHandler } from '../../../../src/plugins/profile-handler/disagg-profile-handler/index.ts'
import { pdProfileHandler } from '../../../../src/plugins/profile-handler/pd-profile-handler/index.ts'
import { singleProfileHandler } from '../../../../src/plugins/profile-handler/single-profile-handler/index.ts'
import { Desk, endpoint, make, request } from '../given.ts'

const A = endpoint('a', { port: 8001, waitingQueueSize: 3 })

const results = (given: Readonly<Record<string, readonly (typeof A)[] | null>>): ProfileResults =>
  new Map(Object.entries(given).map(([name, endpoints]) => [name, endpoints === null ? null : { endpoints }]))

describe('single-profile-handler', () => {
  const handler = make<ProfileHandler>(singleProfileHandler)

  it('runs the profile once and takes its result', () => {
    expect(handler.pick(request(), ['default'], new Map())).toEqual(['default'])
    expect(handler.pick(request(), ['default'], results({ default: [A] }))).toEqual([])
    expect(handler.stageOf('default')).toBe('decode')
    expect(handler.processResults(request(), results({ default: [A] }))).toEqual({ primary: 'default', results: new Map([['default', { endpoints: [A] }]]) })
  })

  it('fails without a status of its own when the run gave nothing', () => {
    expect(() => handler.processResults(request(), results({ default: null }))).toThrow("failed to run scheduler profile 'default'")
    expect(() => handler.processResults(request(), new Map())).toThrow('single profile')
  })
})

describe('data-parallel-profile-handler', () => {
  it('tells the rank by a header and sends to the one port', () => {
    const r = request()
    const made = make<ProfileHandler>(dataParallelProfileHandler, { primaryPort: 8000 }).processResults(r, results({ default: [A] }))
    const [target] = made.results.get('default')?.endpoints ?? []
    expect(r.headers.get('x-data-parallel-host-port')).toBe('10.0.0.1:8001')
    expect([target?.hostPort, target?.id, target?.life, target?.slot, target?.waitingQueueSize]).toEqual(['10.0.0.1:8000', A.id, A.life, A.slot, 3])
  })

  it('refuses ports that are none', () => {
    for (const primaryPort of [0, 65_536]) expect(() => make(dataParallelProfileHandler, { primaryPort })).toThrow(`between 1 and 65535, got ${primaryPort}`)
  })
})

describe('pd-profile-handler', () => {
  const handler = (desk = new Desk()): ProfileHandler => make(pdProfileHandler, { deciderPluginName: 'always-disagg-pd-decider' }, desk, [make(alwaysDisaggPdDecider)])

  it('asks the decider once, however many profiles there are', () => {
    const desk = new Desk()
    const one = handler(desk)
    const all = ['decode', 'prefill', 'other']
    expect(one.pick(request(), all, new Map())).toEqual(['decode'])
    expect(one.pick(request(), all, results({ decode: [A] }))).toEqual(['prefill'])
    expect(one.pick(request(), all, results({ decode: [A], prefill: null }))).toEqual([])
    expect(desk.observations).toHaveLength(2)
  })

  it('asks nobody about a decode run without endpoints', () => expect(handler().pick(request(), ['decode', 'prefill'], results({ decode: [] }))).toEqual([]))
})

describe('disagg-profile-handler', () => {
  it('knows the stage of each of its profiles', () => {
    const one = make<DisaggProfileHandler>(disaggProfileHandler, { profiles: { decode: 'd', prefill: 'p', encode: 'e' } })
    expect(['d', 'p', 'e'].map((profile) => one.stageOf(profile))).toEqual(['decode', 'prefill', 'encode'])
  })

  it('names the decision that a result stands for', () => {
    const one = make<DisaggProfileHandler>(disaggProfileHandler)
    const kinds = [['decode'], ['decode', 'prefill'], ['decode', 'encode'], ['decode', 'prefill', 'encode']]
    expect(kinds.map((names) => one.decisionType({ primary: 'decode', results: new Map(names.map((name) => [name, { endpoints: [A] }])) }))).toEqual([
      'decode-only', 'prefill-decode', 'encode-decode', 'encode-prefill-decode',
    ])
  })

  it('quotes what is wrong with both forms of its parameters', () => {
    expect(() => make(disaggProfileHandler, { decodeProfile: 'd', profiles: {} })).toThrow(
      /failed to parse parameters of the disagg-profile-handler: nested schema error: unknown field "decodeProfile".*; legacy schema error: unknown field "profiles"/,
    )
  })
})
