import { describe, expect, it } from 'vitest'

interface Hazard {
  readonly id: string
  readonly symptom: string
}

/** One test a hazard; a hazard without a check fails, and so does a check without a hazard. */
export const checkHazards = (title: string, cases: readonly Hazard[], checks: Readonly<Record<string, () => void | Promise<void>>>): void => {
  describe(title, () => {
    it.each(cases)('$id: $symptom', ({ id }) => {
      const check = checks[id]
      expect(check, `no check of ${id}`).toBeDefined()
      return check?.()
    })

    it('has a hazard for each check', () => expect(Object.keys(checks).sort()).toEqual(cases.map(({ id }) => id).sort()))
  })
}
