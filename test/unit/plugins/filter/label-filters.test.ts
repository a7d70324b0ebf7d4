import { describe, expect, it } from 'vitest'
import type { Filter, PluginType } from '../../../../src/core/contract.ts'
import { byLabel } from '../../../../src/plugins/filter/by-label/index.ts'
import { decodeFilter } from '../../../../src/plugins/filter/decode-filter/index.ts'
import { encodeFilter } from '../../../../src/plugins/filter/encode-filter/index.ts'
import { headerBasedTestingFilter } from '../../../../src/plugins/filter/header-based-testing-filter/index.ts'
import { byLabelSelector, labelSelectorFilter } from '../../../../src/plugins/filter/label-selector-filter/index.ts'
import { prefillFilter } from '../../../../src/plugins/filter/prefill-filter/index.ts'
import { ROLE_LABEL } from '../../../../src/plugins/filter/role.ts'
import { endpoint, make, request } from '../given.ts'

const labelled = (name: string, labels: Readonly<Record<string, string>>) => endpoint(name, { labels: new Map(Object.entries(labels)) })

const ROLES = ['decode', 'prefill', 'prefill-decode', 'both', 'encode', 'encode-prefill', 'encode-prefill-decode', 'other']
const BY_ROLE = [endpoint('none'), ...ROLES.map((role) => labelled(role, { [ROLE_LABEL]: role }))]

const kept = (type: PluginType, parameters: unknown, candidates = BY_ROLE, of = request()): string[] =>
  make<Filter>(type, parameters).filter(of, candidates).map(({ id }) => id.replace('default/', ''))

describe('role filters', () => {
  it.each([
    [decodeFilter, ['none', 'decode', 'prefill-decode', 'both', 'encode-prefill-decode']],
    [prefillFilter, ['prefill', 'prefill-decode', 'both', 'encode-prefill', 'encode-prefill-decode']],
    [encodeFilter, ['encode', 'encode-prefill', 'encode-prefill-decode']],
  ] as const)('$0.type', (type, wanted) => expect(kept(type, undefined)).toEqual(wanted))

  it('give the list itself back when nothing goes', () => {
    const all = [labelled('a', { [ROLE_LABEL]: 'both' }), labelled('b', { [ROLE_LABEL]: 'decode' })]
    expect(make<Filter>(decodeFilter).filter(request(), all)).toBe(all)
  })
})

describe('label-selector-filter', () => {
  const PODS = [labelled('a', { tier: 'hot', zone: '1' }), labelled('b', { tier: 'cold' }), labelled('c', { zone: '2' })]
  const select = (parameters: unknown, type = labelSelectorFilter) => kept(type, parameters, PODS).join('')
  const term = (operator: string, key: string, ...values: string[]) => ({ matchExpressions: [{ key, operator, values }] })

  it('keeps what bears all labels', () => {
    expect(select({ matchLabels: { tier: 'hot' } })).toBe('a')
    expect(select({ matchLabels: { tier: 'hot', zone: '2' } })).toBe('')
    expect(select({})).toBe('abc')
  })

  it('knows In, NotIn, Exists and DoesNotExist', () => {
    expect(select(term('In', 'tier', 'hot', 'cold'))).toBe('ab')
    expect(select(term('NotIn', 'tier', 'hot'))).toBe('bc')
    expect(select(term('Exists', 'zone'))).toBe('ac')
    expect(select(term('DoesNotExist', 'zone'))).toBe('b')
    expect(select({ ...term('Exists', 'zone'), matchLabels: { tier: 'hot' } })).toBe('a')
  })

  it('refuses terms that make no sense', () => {
    expect(() => select(term('Near', 'zone'))).toThrow('"Near" is not a valid label selector operator')
    expect(() => select(term('In', 'zone'))).toThrow("for 'In' operator, values set can't be empty")
    expect(() => select(term('Exists', 'zone', '1'))).toThrow("values set must be empty for 'Exists'")
    expect(() => select(term('Exists', ''))).toThrow('needs a key')
  })

  it('has an old name that makes the same', () => {
    expect(select({ matchLabels: { tier: 'cold' } }, byLabelSelector)).toBe('b')
    expect(make<Filter>(byLabelSelector).typedName.type).toBe('label-selector-filter')
    expect(byLabelSelector.deprecated?.replacement).toBe('label-selector-filter')
  })
})

describe('by-label', () => {
  it('keeps the values listed, and those without the label where allowed', () => {
    expect(kept(byLabel, { label: ROLE_LABEL, validValues: ['encode', 'other'] })).toEqual(['encode', 'other'])
    expect(kept(byLabel, { label: ROLE_LABEL, validValues: ['encode'], allowsNoLabel: true })).toEqual(['none', 'encode'])
  })

  it('refuses a filter that could keep nothing', () => {
    expect(() => make(byLabel)).toThrow("'label' must be specified")
    expect(() => make(byLabel, { label: 'x' })).toThrow("either 'validValues' must be non-empty or 'allowsNoLabel' must be true")
  })
})

describe('header-based-testing-filter', () => {
  const PODS = [endpoint('a', { address: '10.0.0.1', port: 3000 }), endpoint('b', { address: '10.0.0.1', port: 3002 }), endpoint('c', { address: 'fd00::1', port: 3000 })]
  const select = (header?: string) => kept(headerBasedTestingFilter, undefined, PODS, request({ received: new Map(header === undefined ? [] : [['test-epp-endpoint-selection', header]]) })).join('')

  it('keeps what the header names, by address or by address and port', () => {
    expect(select('10.0.0.1')).toBe('ab')
    expect(select(' 10.0.0.1:3002 , [fd00::1]:3000')).toBe('bc')
    expect(select('fd00::1')).toBe('c')
    expect(select('10.0.0.9,10.0.0.1:9')).toBe('')
  })

  it('keeps nothing without the header', () => {
    expect(select()).toBe('')
    expect(select('')).toBe('')
  })
})
