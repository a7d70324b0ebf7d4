import { describe, expect, it } from 'vitest'
import { endsInClaimed } from '../../../../src/adapters/http/preparation.ts'
import { originForm, pathOf, routeOf } from '../../../../src/adapters/http/routes.ts'

const claims = { claims: (path: string): boolean => endsInClaimed(path) }

describe('routes', () => {
  it('ignore a query, a slash at the end and the host of an absolute target', () => {
    expect(['/v1/messages?beta=true', '/v1/chat/completions/', 'http://host:1/v1/completions?x=/', '/', '?x'].map(pathOf))
      .toEqual(['/v1/messages', '/v1/chat/completions', '/v1/completions', '/', ''])
  })

  it('send an endpoint path and query, never a host', () => {
    expect(['/a?b=c', 'http://evil:1/a?b', 'http://evil', '*'].map(originForm)).toEqual(['/a?b=c', '/a?b', '/', '/*'])
  })

  it('claim the known paths at a slash only', () => {
    const known = ['chat/completions', 'completions', 'embeddings', 'responses', 'messages'].map((name) => routeOf('POST', `/v1/${name}`, claims).kind)

    expect(new Set(known)).toEqual(new Set(['claimed']))
    expect(routeOf('POST', '/inference/v1/generate', claims).kind).toBe('claimed')
    expect(routeOf('POST', '/v1/notcompletions', claims)).toMatchObject({ answer: { status: 404 } })
    expect(routeOf('POST', '/v1/foo', claims)).toMatchObject({ answer: { status: 404 } })
  })

  it('tell a wrong method from an unknown path', () => {
    expect(routeOf('GET', '/v1/chat/completions', claims)).toMatchObject({ answer: { status: 405 }, headers: ['allow', 'POST'] })
    expect(routeOf('POST', '/v1/models', claims)).toMatchObject({ answer: { status: 405 }, headers: ['allow', 'GET, HEAD'] })
    expect(routeOf('GET', '/v1/models/a%2Fb', claims)).toEqual({ kind: 'models', model: 'a/b' })
    expect(routeOf('GET', '/v1/models/%zz', claims)).toEqual({ kind: 'models', model: '%zz' })
  })
})
