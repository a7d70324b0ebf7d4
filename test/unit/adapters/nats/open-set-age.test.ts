import { describe, expect, it } from 'vitest'
import { OpenSetAge } from '../../../../src/adapters/nats/open-set-age.ts'

describe('the age of an open set', () => {
  const given = (): OpenSetAge => {
    const age = new OpenSetAge()
    age.opened(1000)
    return age
  }

  it('given nothing changed, then it is never due', () => {
    expect(given().isDue(1e9)).toBe(false)
  })

  it('given one change, then it is due after a minute and not before', () => {
    const age = given()
    age.changed(1)
    expect([60_999, 61_000].map((now) => age.isDue(now))).toEqual([false, true])
  })

  it('given 2,048 messages of changes, then it is due at once', () => {
    const age = given()
    age.changed(2047)
    expect(age.isDue(1000)).toBe(false)
    age.changed(1)
    expect(age.isDue(1000)).toBe(true)
    age.opened(1001)
    expect(age.isDue(1e9)).toBe(false)
  })
})
