import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Usage } from '../../../../src/core/request.ts'
import { parseExpression } from '../../../../src/plugins/reporter/request-attribute-reporter/expression.ts'
import { requestAttributeReporter, type RequestAttributeReporter } from '../../../../src/plugins/reporter/request-attribute-reporter/index.ts'
import { make, request } from '../given.ts'

const USAGE: Usage = { promptTokens: 10, completionTokens: 7, totalTokens: 17, cachedTokens: 4, reasoningTokens: 2 }

const value = (text: string) => parseExpression(text)(USAGE)?.value

describe('expressions', () => {
  it.each([
    ['1 + 2 * 3', 7], ['(1 + 2) * 3', 9], ['10 - 2 - 3', 5], ['7 / 2', 3], ['-7 / 2', -3], ['7 % 4', 3], ['7.0 / 2.0', 3.5], ['1e2 + 0.5', 100.5],
    ['usage.prompt_tokens + 3 * usage.completion_tokens', 31], ['usage.prompt_tokens_details.cached_tokens', 4], ['usage.completion_tokens_details.reasoning_tokens', 2],
    ['usage.total_tokens > 16 ? 1 : 2', 1], ['!(1 < 2) || 3 >= 3 && true', true], ['1 == 1.0', true], ['true != false', true], ['int(7.9)', 7], ['double(7) / 2.0', 3.5], ['int(-7.9)', -7],
    ['true ? false ? 1 : 2 : 3', 2], ['has(usage.total_tokens)', true], ['1 < 2 == true', true],
  ])('%s is %s', (text, wanted) => expect(value(text)).toBe(wanted))

  it.each(['1 + 1.5', '1 / 0', '5 % 0', '1 + true', 'true < false', '!1', '-true', '1 == true', '9007199254740991 + 1', '1 ? 2 : 3', '1.5 % 2.0'])('%s has no value', (text) => expect(value(text)).toBeUndefined())

  it('without usage no field has a value, and logic takes the side that decides', () => {
    const none = (text: string) => parseExpression(text)(undefined)?.value
    expect(none('usage.total_tokens + 1')).toBeUndefined()
    expect(none('has(usage.total_tokens)')).toBe(false)
    expect(none('usage.total_tokens > 1 || true')).toBe(true)
    expect(none('usage.total_tokens > 1 && false')).toBe(false)
    expect(none('usage.total_tokens > 1 && true')).toBeUndefined()
  })

  it.each([
    ['1 +', 'unexpected "the end"'], ['usage.cost', 'unknown field usage.cost'], ['usage', 'unknown field usage.'], ['size(1)', 'unknown name "size"'], ['1 2', 'expected the end, found "2"'],
    ['(1', 'expected ")", found the end'], ['1 # 2', '"#" is not understood (at character 2)'], ['has(1)', 'expected "usage"'], ['99999999999999999999', 'is too large'], ['"a"', 'is not understood'],
  ])('%s is refused', (text, message) => expect(() => parseExpression(text)).toThrow(message))

  it('computes sums and products of whole numbers as anybody would', () => {
    fc.assert(fc.property(fc.nat(1000), fc.nat(1000), fc.nat(1000), (a, b, c) => {
      expect(value(`${a} + ${b} * ${c} - (${a} - ${b})`)).toBe(a + b * c - (a - b))
    }))
  })
})

describe('request-attribute-reporter', () => {
  const reporter = (attribute: object): RequestAttributeReporter => make(requestAttributeReporter, { attributes: [attribute] })
  const report = (attribute: object) => reporter({ key: { name: 'cost' }, ...attribute }).report(request(), USAGE)

  it('tells a whole number under its key', () => {
    expect(report({ expression: 'usage.completion_tokens' })).toEqual({ namespace: 'envoy.lb', name: 'cost', value: 7 })
    expect(report({ expression: '2.9', key: { namespace: 'mine', name: 'x' } })).toEqual({ namespace: 'mine', name: 'x', value: 2 })
  })

  it('tells nothing of 0, of what is no number, or against its condition', () => {
    for (const expression of ['0', '0.5', 'true', '1 / 0']) expect(report({ expression })).toBeUndefined()
    expect(report({ expression: '5', condition: 'usage.total_tokens > 100' })).toBeUndefined()
    expect(report({ expression: '5', condition: '1' })).toBeUndefined()
    expect(reporter({ key: { name: 'cost' }, expression: '5', condition: 'has(usage.completion_tokens)' }).report(request(), undefined)).toBeUndefined()
  })

  it('says what is wrong with its parameters, and where', () => {
    expect(() => make(requestAttributeReporter)).toThrow('attributes must have exactly 1 entry, got 0')
    expect(() => reporter({ expression: '1' })).toThrow('key.name is required')
    expect(() => reporter({ key: { name: 'x' } })).toThrow('expression is required')
    expect(() => reporter({ key: { name: 'x' }, expression: '1 +' })).toThrow('"1 +": unexpected "the end" (at character 4)')
  })
})
