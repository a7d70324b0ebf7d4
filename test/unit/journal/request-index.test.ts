import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrivalsIn, recordsIn, RequestIndexSection, requestsOf } from '../../../src/journal/index.ts'
import type { Record } from '../../../src/wire/index.ts'
import { emptyDecision, emptyRequestReceived, WireError } from '../../../src/wire/index.ts'
import { requestIdOf, sampleRecords } from './sample-records.ts'

function indexed(records: readonly Record[], cuts: readonly number[] = []): Uint8Array {
  const section = new RequestIndexSection()
  const parts: Uint8Array[] = []
  records.forEach((record, at) => {
    if (cuts.includes(at)) parts.push(section.take())
    section.add(record)
  })
  return Buffer.concat([...parts, section.take()])
}

describe('the request index', () => {
  it('given records cut into sections anywhere, when searched, then it finds the records of each request and no others', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 60 }), fc.array(fc.nat(60)), fc.nat(), (count, cuts, which) => {
      const sections = indexed(sampleRecords(1, count), cuts)
      const request = (which % Math.ceil(count / 4)) * 4 + 1
      const own = [0, 1, 2, 3].map(step => request + step).filter(position => position <= count)
      expect(recordsIn(sections, request)).toEqual(own)
      expect(arrivalsIn(sections, requestIdOf(request))).toEqual([request])
      expect(arrivalsIn(sections, 'nobody')).toEqual([])
    }))
  })

  it('given two live requests with one id, when searched, then both are found', () => {
    const arrival = (position: number): Record => ({
      position, atUs: 0, decisions: [], input: { input: { kind: 'requestReceived', value: { ...emptyRequestReceived(), requestId: 'twin' } } },
    })
    expect(arrivalsIn(indexed([arrival(5), arrival(9)]), 'twin')).toEqual([5, 9])
  })

  it('given a record that decides for requests other than its own, then it belongs to them too', () => {
    const decisions = [{ ...emptyDecision(), request: 3 }, { ...emptyDecision(), request: 4 }, { ...emptyDecision(), request: 3 }]
    const record: Record = { position: 7, atUs: 0, decisions, input: { input: { kind: 'timerFired', value: { deadlineUs: 1 } } } }
    expect(requestsOf(record)).toEqual([3, 4])
    expect(recordsIn(indexed([record]), 3)).toEqual([7])
    expect(recordsIn(indexed([record]), 4)).toEqual([7])
  })

  it('given records of no request, then it takes no bytes', () => {
    expect(indexed([{ position: 1, atUs: 0, decisions: [], input: undefined }])).toHaveLength(0)
  })

  it('given damaged sections, when searched, then they are refused', () => {
    const sections = indexed(sampleRecords(1, 8))
    expect(() => recordsIn(sections.subarray(0, sections.length - 1), 1)).toThrow(WireError)
  })
})
