import { expect } from 'vitest'
import type { Filter, Scorer } from '../../src/core/contract.ts'
import type { SchedulingResult } from '../../src/core/request.ts'
import { byLabel } from '../../src/plugins/filter/by-label/index.ts'
import { sessionAffinityFilter, type SessionAffinityFilter } from '../../src/plugins/filter/session-affinity-filter/index.ts'
import { disaggHeadersHandler, type DisaggHeadersHandler } from '../../src/plugins/header-handler/disagg-headers-handler/index.ts'
import { inflightLoadProducer, type InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { disaggProfileHandler, type DisaggProfileHandler } from '../../src/plugins/profile-handler/disagg-profile-handler/index.ts'
import { loraAffinityScorer } from '../../src/plugins/scorer/lora-affinity-scorer/index.ts'
import { headersAfter } from '../conformance/plugin-cases.ts'
import { Desk, endpoint, make, request, scores, step } from '../unit/plugins/given.ts'
import hazards from './cases/plugin-headers.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

const prefilled = endpoint('p', { address: '10.0.0.7' })

const result = (...profiles: readonly string[]): SchedulingResult => ({ primary: 'decode', results: new Map(profiles.map((profile) => [profile, { endpoints: [prefilled] }])) })

checkHazards('hazards of headers that plugins set', hazards.cases, {
  'BUG-123': () => {
    for (const hook of [make<DisaggProfileHandler>(disaggProfileHandler), make<DisaggHeadersHandler>(disaggHeadersHandler)]) {
      // Front doors fold names to lower case and repeated ones into one.
      const spoofed = () => request({ received: new Map([['x-prefiller-host-port', '169.254.169.254:80'], ['x-encoder-hosts-ports', '169.254.169.254:80']]) })
      const no = spoofed()
      hook.preRequest(no, result('decode'))
      expect(headersAfter(no)).toEqual({})
      const yes = spoofed()
      hook.preRequest(yes, result('decode', 'prefill'))
      expect(headersAfter(yes)).toEqual({ 'x-prefiller-host-port': '10.0.0.7:8000' })
      const both = spoofed()
      hook.preRequest(both, result('decode', 'prefill', 'encode'))
      expect(headersAfter(both)).toEqual({ 'x-prefiller-host-port': '10.0.0.7:8000', 'x-encoder-hosts-ports': '10.0.0.7:8000' })
    }
  },
  'BUG-129': () => {
    const desk = new Desk()
    const filter = make<SessionAffinityFilter>(sessionAffinityFilter, { strategy: 'session_id' }, desk)
    const pods = ['a', 'b', 'c'].map((name) => endpoint(name))
    const first = request({ received: new Map([['x-session-id', 's1']]) })
    expect(filter.receives()).toEqual(['x-session-id'])
    expect(filter.filter(first, pods)).toEqual(pods)
    filter.preRequest(first, { primary: 'default', results: new Map([['default', { endpoints: pods.slice(1) }]]) })
    expect(headersAfter(first)).toEqual({ 'x-session-id': 's1' })
    expect(filter.filter(request({ received: new Map([['x-session-id', 's1']]) }), pods)).toEqual([pods[1]])
  },
  'BUG-142': () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const plain = endpoint('plain')
    for (const name of names) {
      expect(scores(make<Scorer>(loraAffinityScorer), [plain], request({ targetModel: name }))).toEqual([0])
      expect(make<Filter>(byLabel, { label: name, validValues: ['x'] }).filter(request(), [plain])).toEqual([])
      const desk = new Desk()
      const producer = make<InFlightLoadProducer>(inflightLoadProducer, undefined, desk)
      const odd = endpoint(name, { id: name })
      const one = request({ id: name, fairnessId: name, tokens: 4 })
      producer.preRequest(one, { primary: name, results: new Map([[name, { endpoints: [odd] }]]) })
      expect([producer.requestsOn(name), producer.dump().endpoints]).toEqual([1, [{ endpoint: name, requests: 1, tokens: 4 }]])
      producer.responseBody(one, step(false, true))
      expect(producer.requestsOn(name)).toBe(0)
    }
    expect(({} as { x?: unknown }).x).toBeUndefined()
  },
})
