import { describe, expect, it } from 'vitest'
import { NO_FAULTS, parseFaults } from '../../../../src/simulation/endpoint/faults.ts'

describe('faults', () => {
  it('leaves right what is not named', () => {
    expect(parseFaults({})).toEqual(NO_FAULTS)
    expect(parseFaults({ failStatus: 503, count: 2 })).toEqual({ ...NO_FAULTS, failStatus: 503, count: 2 })
    expect(parseFaults(NO_FAULTS)).toEqual(NO_FAULTS)
  })

  it.each([
    [3, 'JSON object'], [{ slow: 2 }, 'unknown fault `slow`'], [{ slowFactor: 0 }, '`slowFactor`'], [{ stall: 1 }, '`stall`'],
    [{ failStatus: 200 }, '`failStatus`'], [{ dropMidStreamAfterTokens: -1 }, '`dropMidStreamAfterTokens`'], [{ count: 0 }, '`count`'],
  ])('refuses %j and names what is wrong', (value, message) => {
    expect(() => parseFaults(value)).toThrow(message)
  })
})
