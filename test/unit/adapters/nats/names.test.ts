import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameOf, Names, tokenOf } from '../../../../src/adapters/nats/names.ts'
import { ServerFeatures } from '../../../../src/adapters/nats/server-features.ts'
import { SignalboxError } from '../../../../src/core/errors.ts'

describe('names on NATS', () => {
  it('given any name, when made a token and read again, then it is the same, and the token is one token', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (name) => {
      const token = tokenOf(name)
      expect(token).toMatch(/^=?[A-Za-z0-9_-]*$/)
      expect(token).not.toBe('')
      expect(nameOf(token)).toBe(name)
    }))
  })

  it('given two names, then their tokens differ', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => {
      fc.pre(a !== b && a.isWellFormed() && b.isWellFormed())
      expect(tokenOf(a)).not.toBe(tokenOf(b))
    }))
  })

  it('given a plain name, then it is readable in the subject', () => {
    expect(tokenOf('pod-1_a')).toBe('pod-1_a')
    expect(tokenOf('default/pod-1')).toBe('=ZGVmYXVsdC9wb2QtMQ')
  })

  it('given a token that no name has, when read, then there is no name', () => {
    for (const token of ['a.b', '', '*', '>', 'a b', '=cG9k', '=ZGVmYXVsdC9wb2QtMQ==', '=!!']) expect(nameOf(token)).toBeUndefined()
  })

  it('given half a surrogate pair, then it is refused', () => {
    expect(() => tokenOf('\ud800')).toThrow(SignalboxError)
  })

  it('given a pool, then its subjects and buckets are those of the design', () => {
    const names = new Names('signalbox.v1', 'blue')
    expect(names.telemetry('default/a')).toBe('signalbox.v1.blue.telemetry.=ZGVmYXVsdC9h')
    expect(names.schedule).toBe('signalbox.v1.blue.schedule')
    expect(names.lifecycle('r-0', 7)).toBe('signalbox.v1.blue.request.r-0.7')
    expect(names.load('r-0')).toBe('signalbox.v1.blue.load.r-0')
    expect(names.endpointsBucket).toBe('signalbox_blue_endpoints')
    expect(names.replicasBucket).toBe('signalbox_blue_replicas')
    expect(names.journalStream('r-0')).toBe('signalbox_blue_journal_r-0')
    expect(new Names('other.v1', 'blue').journalStream('r-0')).toBe('other_v1_blue_journal_r-0')
  })

  it('given a pool, replica or prefix of other letters, then it is refused', () => {
    expect(() => new Names('signalbox.v1', 'a.b')).toThrow(/pool/)
    expect(() => new Names('signalbox..v1', 'a')).toThrow(/prefix/)
    expect(() => new Names('signalbox.>', 'a')).toThrow(/prefix/)
    expect(() => new Names('signalbox.v1', 'a').load('x y')).toThrow(/replica/)
  })
})

describe('features of a NATS server', () => {
  it.each([['2.9.10', false, false], ['2.10.0', true, false], ['2.11.4-RC.1', true, true], ['v3.0.0', true, true]] as const)('given %s, then it has what that version has', (version, filters, batched) => {
    const features = new ServerFeatures(version)
    expect(features.has('severalFilters')).toBe(filters)
    expect(features.has('batchedDirectGet')).toBe(batched)
  })

  it('given an older server or nonsense, then it is refused with the floor', () => {
    expect(() => new ServerFeatures('2.8.4')).toThrow(/2\.9/)
    expect(() => new ServerFeatures('')).toThrow(SignalboxError)
  })
})
