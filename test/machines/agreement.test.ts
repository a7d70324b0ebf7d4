import fc from 'fast-check'
import { describe, it } from 'vitest'
import { commands, expectAgreement } from './agreement.ts'
import { randomSubject } from './random-machine.ts'
import { endpoint, journalLink, request } from './subjects.ts'

describe('the compiled table and an XState actor', () => {
  it.each([request, endpoint, journalLink].map((subject) => [subject.machine.id, subject] as const))(
    'do the same on any story of machine %s',
    (_id, subject) => {
      fc.assert(fc.property(commands, (story) => expectAgreement(subject, story)), { numRuns: 150 })
    },
  )

  it('do the same on any story of any machine', () => {
    fc.assert(fc.property(randomSubject, commands, (subject, story) => expectAgreement(subject, story)), { numRuns: 500 })
  })
})
