import { describe, expect, it } from 'vitest'
import { decodeParameters, decodeParametersOf, int, text, type ParameterError } from '../../../src/core/parameters.ts'

describe('parameter names', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('takes %s for an unknown field', (name) => {
    const parameters: unknown = JSON.parse(`{"${name}": 1}`)
    expect(() => decodeParameters(parameters, { limit: int(0) })).toThrow(`unknown field "${name}"`)
  })

  it('match without regard to case', () => {
    expect(decodeParameters({ LIMIT: 3 }, { limit: int(0) })).toEqual({ limit: 3 })
  })
})

describe('decodeParametersOf', () => {
  it('puts the prefix before the message and keeps the path', () => {
    const decode = () => decodeParametersOf('failed to parse: ', { name: 7 }, { name: text('') })
    expect(decode).toThrow('failed to parse: name must be a string, got number 7')
    try {
      decode()
    } catch (error) {
      expect((error as ParameterError).path).toEqual(['name'])
    }
  })
})
