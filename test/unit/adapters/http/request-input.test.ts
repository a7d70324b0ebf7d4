import { describe, expect, it } from 'vitest'
import { readClientHeaders } from '../../../../src/adapters/http/header-policy.ts'
import { requestInput } from '../../../../src/adapters/http/request-input.ts'

const prepared = { kind: 'prepared', api: 'chat', parser: 'openai-parser', model: 'm', rewritable: true, streaming: false, maxOutputTokens: undefined, shape: undefined } as const

const headersOf = (raw: readonly string[], received: readonly string[]): Record<string, string> =>
  Object.fromEntries(requestInput('id', readClientHeaders([...raw]), prepared, 2, received).headers.map(({ name, value }) => [name, value]))

describe('what the engine sees of a request\'s headers', () => {
  const raw = ['X-Tenant', 'abc', 'Authorization', 'Bearer secret', 'Cookie', 'a=1; sid="s 1"; sid=other; b=2', 'X-Other', 'x']

  it('is what plugins ask for, and nothing else of the client\'s', () => {
    expect(headersOf(raw, ['x-tenant'])).toEqual({ 'x-tenant': 'abc' })
    expect(headersOf(raw, [])).toEqual({})
  })

  it('of cookies only the one that is named, the first of its name', () => {
    expect(headersOf(raw, ['cookie:sid', 'cookie:absent'])).toEqual({ 'cookie:sid': 's 1' })
  })

  it('has each header once, also one that is always let through', () => {
    expect(headersOf(['x-llm-d-inference-objective', 'batch'], ['x-llm-d-inference-objective'])).toEqual({ 'x-llm-d-inference-objective': 'batch' })
  })
})
