import { describe, expect, it } from 'vitest'
import { errorBody, errorEvent } from '../../../../src/adapters/http/error-response.ts'

describe('errors for clients', () => {
  it('have the shape of OpenAI’s, whatever the status', () => {
    const types = [400, 401, 403, 404, 405, 408, 412, 413, 429, 431, 500, 502, 503, 504].map((status) => {
      const body: unknown = JSON.parse(errorBody({ status, code: 'ResourceExhausted', message: 'm "q"' }))
      expect(body).toEqual({ error: { message: 'm "q"', type: expect.any(String) as string, param: null, code: 'resource_exhausted' } })
      return (body as { error: { type: string } }).error.type
    })

    expect(new Set(types)).toEqual(new Set(['invalid_request_error', 'authentication_error', 'permission_error', 'not_found_error', 'rate_limit_error', 'server_error']))
  })

  it('are one whole event of the stream’s own API', () => {
    const answer = { status: 502, code: 'BadGateway', message: 'gone' }
    const dataOf = (api: string): unknown => JSON.parse(/^data: (.*)\n\n$/m.exec(errorEvent(answer, api))?.[1] ?? '')

    expect(dataOf('chat')).toEqual({ error: { message: 'gone', type: 'server_error', param: null, code: 'bad_gateway' }, choices: [] })
    expect(dataOf('responses')).toEqual({ type: 'error', code: 'bad_gateway', message: 'gone', param: null })
    expect(dataOf('messages')).toEqual({ type: 'error', error: { type: 'server_error', message: 'gone' } })
    expect(errorEvent(answer, 'messages').startsWith('event: error\n')).toBe(true)
  })
})
