import { describe, expect, it } from 'vitest'
import { AdminServer, jsonReply } from '../../../src/adapters/http/admin.ts'
import type { AdminOptions } from '../../../src/adapters/http/admin.ts'
import { closing, rawClient } from './setting.ts'

const serve = async (over: Partial<AdminOptions> = {}): Promise<{ admin: AdminServer; url: string; port: number }> => {
  const admin = new AdminServer({
    listen: { host: '127.0.0.1', port: 0 },
    healthy: () => ({ ok: true, reasons: [] }),
    ready: () => ({ ok: false, reasons: ['the journal is recovering'] }),
    metrics: () => Promise.resolve({ contentType: 'text/plain; version=0.0.4', text: 'llm_d_epp_request_total 1\n' }),
    pluginStates: () => [{ name: 'prefix', type: 'prefix-cache-scorer', state: { blocks: 3 } }, { name: '__proto__', type: 'max-score-picker', state: undefined }],
    endpoints: () => [{ id: 'default/a' }],
    drain: (endpoint) => (endpoint === 'default/a' ? 'draining' : 'unknown-endpoint'),
    now: () => 1_700_000_000_000,
    ...over,
  })
  const { port } = await admin.listen()
  closing(() => admin.close())
  return { admin, url: `http://127.0.0.1:${port}`, port }
}
const drain = (url: string, body: string): Promise<Response> => fetch(`${url}/endpoints/drain`, { method: 'POST', body })

describe('the admin server', () => {
  it('tells health and readiness with their reasons', async () => {
    const { url } = await serve()
    const healthy = await fetch(`${url}/healthz`)
    const ready = await fetch(`${url}/readyz?verbose`)

    expect([healthy.status, await healthy.json()]).toEqual([200, { status: 'ok', reasons: [] }])
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', reasons: ['the journal is recovering'] }])
  })

  it('gives metrics as text of the type they have', async () => {
    const response = await fetch(`${(await serve()).url}/metrics`)

    expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/plain; version=0.0.4', 'llm_d_epp_request_total 1\n'])
  })

  it('dumps the state of plugins, and says which have none', async () => {
    const text = await (await fetch(`${(await serve()).url}/debug/plugins/state`)).text()

    expect(JSON.parse(text)).toMatchObject({ timestamp: '2023-11-14T22:13:20.000Z', plugins: { prefix: { name: 'prefix', type: 'prefix-cache-scorer', state: { blocks: 3 } } } })
    expect(text).toContain('"__proto__":{"name":"__proto__","type":"max-score-picker","message":"plugin does not support state collection"}')
  })

  it('lists endpoints and drains one', async () => {
    const { url } = await serve()

    expect(await (await fetch(`${url}/endpoints`)).json()).toEqual({ endpoints: [{ id: 'default/a' }] })
    expect(await (await drain(url, '{"endpoint":"default/a"}')).json()).toEqual({ endpoint: 'default/a', presence: 'draining' })
    expect((await drain(url, '{"endpoint":"default/b"}')).status).toBe(404)
    for (const body of ['', '{}', '{"endpoint":1}', 'x']) expect((await drain(url, body)).status).toBe(400)
    expect((await drain(url, 'x'.repeat(65 * 1024))).status).toBe(413)
  })

  it('refuses other methods and paths', async () => {
    const { url } = await serve()
    const wrong = await fetch(`${url}/debug/plugins/state`, { method: 'POST' })

    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET'])
    expect((await fetch(`${url}/endpoints/drain`)).status).toBe(405)
    expect((await fetch(`${url}/toString`)).status).toBe(404)
    expect((await fetch(`${url}/healthz`, { method: 'HEAD' })).status).toBe(200)
  })

  it('takes more routes', async () => {
    const { admin, url } = await serve()
    admin.mount('GET', '/journal', ({ query }) => jsonReply(200, { from: query.get('from') }))

    expect(await (await fetch(`${url}/journal?from=7`)).json()).toEqual({ from: '7' })
  })

  it('answers 500 when a callback throws, now or later', async () => {
    const failures: unknown[] = []
    const { admin, url } = await serve({
      failed: (error) => failures.push(error),
      metrics: () => Promise.reject(new Error('no metrics')),
    })
    admin.mount('GET', '/throws', () => {
      throw new Error('at once')
    })

    expect([(await fetch(`${url}/metrics`)).status, (await fetch(`${url}/throws`)).status, failures.length]).toEqual([500, 500, 2])
  })

  it('closes though connections are open, and names the flag of a taken port', async () => {
    const { admin, port } = await serve()
    await expect(serve({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({ code: 'port-in-use', message: expect.stringContaining('--admin-listen') as string })
    const { said } = rawClient(port)
    await admin.close()
    expect(await said).toBe('')
  })
})
