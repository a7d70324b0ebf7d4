import { describe, expect, it } from 'vitest'
import { fileDiscovery, type FileDiscovery } from '../../../../src/plugins/discovery/file-discovery/index.ts'
import { make } from '../given.ts'

const read = (document: unknown) => make<FileDiscovery>(fileDiscovery, { path: 'endpoints.yaml' }).read(document)

describe('file-discovery', () => {
  it('describes each endpoint', () => {
    const { endpoints, problems } = read({ endpoints: [{ name: 'a', address: '10.0.0.1', port: '8000', labels: { 'llm-d.ai/role': 'decode' }, extra: 1 }, { name: 'b', namespace: 'ns', address: '10.0.0.2', port: '8001' }] })
    expect(problems).toEqual([])
    expect(endpoints).toEqual([
      { id: 'default/a', address: '10.0.0.1', port: 8000, labels: new Map([['llm-d.ai/role', 'decode']]), annotations: new Map(), incarnation: '', metricsHostPort: '10.0.0.1:8000' },
      { id: 'ns/b', address: '10.0.0.2', port: 8001, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '10.0.0.2:8001' },
    ])
  })

  it('leaves out entries that are wrong and says where', () => {
    const { endpoints, problems } = read({ endpoints: [{ name: 'host', address: 'example.com', port: '1' }, { name: 'v6', address: '::1', port: '1' }, { name: 'p', address: '1.2.3.4', port: '65536' }, { name: 'ok', address: '1.2.3.4', port: '65535' }] })
    expect(endpoints.map(({ id }) => id)).toEqual(['default/ok'])
    expect(problems.map(({ path }) => path.join('.'))).toEqual(['endpoints.0.address', 'endpoints.1.address', 'endpoints.2.port'])
  })

  it('takes nothing from a file with a value of a wrong kind', () => {
    const { endpoints, problems } = read({ endpoints: [{ name: 'a', address: '10.0.0.1', port: 8000 }, { name: 'b', address: '10.0.0.2', port: '8000' }] })
    expect(endpoints).toEqual([])
    expect(problems).toEqual([{ path: ['endpoints', '0', 'port'], message: 'port must be a string; write "8000"' }])
    expect(read([]).problems[0]?.message).toContain('must be an object')
    expect(read({ endpoints: 'x' }).problems[0]?.path).toEqual(['endpoints'])
    expect(read({ endpoints: [{ name: 'a', labels: { n: 1 } }] }).problems[0]?.path).toEqual(['endpoints', '0', 'labels', 'n'])
  })

  it('takes an empty file, an empty name, and the last of two with one id', () => {
    expect(read(null)).toEqual({ endpoints: [], problems: [] })
    expect(read({ endpoints: [{ name: '', address: '10.0.0.1', port: '1' }] }).endpoints[0]?.id).toBe('default/')
    expect(read({ endpoints: [{ name: 'a', address: '10.0.0.1', port: '1' }, { name: 'a', address: '10.0.0.2', port: '1' }] }).endpoints.map(({ address }) => address)).toEqual(['10.0.0.2'])
  })

  it('keeps names of the prototype as plain labels', () => {
    const document: unknown = JSON.parse('{"endpoints":[{"name":"hasOwnProperty","address":"10.0.0.1","port":"1","labels":{"__proto__":"x"}}]}')
    expect(read(document).endpoints[0]?.labels.get('__proto__')).toBe('x')
  })

  it('needs a path', () => expect(() => make(fileDiscovery)).toThrow('path is required'))
})
