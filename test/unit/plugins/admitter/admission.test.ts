import { describe, expect, it } from 'vitest'
import type { Detector } from '../../../../src/core/contract.ts'
import { LegacyAdmission } from '../../../../src/plugins/admitter/legacy-admission/index.ts'
import { probabilisticAdmitter, type ProbabilisticAdmitter } from '../../../../src/plugins/admitter/probabilistic-admitter/index.ts'
import { Desk, endpoint, make, request, ScriptedDie } from '../given.ts'

const sheddable = request({ priority: -1 })

describe('probabilistic-admitter', () => {
  const admit = (draw: number | undefined, parameters: unknown, waitingQueueSize: number, of = sheddable) => {
    const desk = new Desk()
    if (draw !== undefined) desk.random = new ScriptedDie(draw)
    return make<ProbabilisticAdmitter>(probabilisticAdmitter, parameters, desk).admit(of, [endpoint('a', { waitingQueueSize })])
  }

  it('admits priority 0 and above without drawing', () => {
    expect(admit(undefined, undefined, 99, request({ priority: 0 }))).toBeUndefined()
  })

  it('refuses with the probability saturation^power k', () => {
    // (2 / 5)^2 x 0.5 = 0.08
    const parameters = { power: 2, k: 0.5 }
    expect(admit(0.0799, parameters, 2)?.status).toBe(429)
    expect(admit(0.0801, parameters, 2)).toBeUndefined()
    expect(admit(0.0799, parameters, 2)?.message).toBe('probabilistic-admitter: rejected, saturation=0.400 prob=0.08')
  })

  it('refuses all at 1 and none at 0, with the defaults', () => {
    expect(admit(1 - 2 ** -32, undefined, 5)?.message).toContain('prob=1.00')
    expect(admit(0, undefined, 0)).toBeUndefined()
  })

  it('takes fractional powers, and refuses settings that are not positive', () => {
    expect(admit(0.5, { power: 0.5, k: 1 }, 1)).toBeUndefined()
    expect(admit(0.4, { power: 0.5, k: 1 }, 1)?.message).toContain('prob=0.45')
    for (const name of ['queueDepthThreshold', 'kvCacheUtilThreshold', 'power', 'k']) expect(() => admit(0, { [name]: 0 }, 0)).toThrow(`plugin 'probabilistic-admitter': ${name} must be > 0, got 0`)
  })
})

describe('legacy admission', () => {
  const admission = (saturation: number, of = sheddable) => {
    const detector: Detector = { typedName: { type: 'fixed', name: 'fixed' }, saturation: () => saturation }
    const one = new LegacyAdmission(detector)
    one.setup(new Desk())
    return one.admission(of, [])
  }

  it('turns away what is sheddable while the pool is full', () => {
    expect(admission(1)).toEqual({ status: 429, code: 'ResourceExhausted', reason: '', message: 'system saturated, sheddable request dropped' })
    expect(admission(0.999)).toBeUndefined()
    expect(admission(2, request({ priority: 0 }))).toBeUndefined()
  })
})
