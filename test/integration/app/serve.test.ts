import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pool } from '../../../src/simulation/index.ts'
import { chat, fleetIn, run, serveIn, temporaryFolder } from '../../story/server.ts'

const SECRET = 'The cargo of the night train to Lindau is forty crates of quince jam.'

describe('a server with a simulated fleet', () => {
  const folder = temporaryFolder()
  let pool: Pool
  let server: Awaited<ReturnType<typeof serveIn>>
  beforeAll(async () => {
    pool = await fleetIn(folder.path)
    server = await serveIn(folder.path, { 'snapshot-every': '20', 'force-usage': 'on' })
  })
  afterAll(async () => {
    await server.close()
    await pool.close()
    folder.remove()
  })

  it('answers the openai client, streaming and not', async () => {
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none' })
    const whole = await client.chat.completions.create({ model: 'sim-model', max_tokens: 4, messages: [{ role: 'user', content: 'Hello' }] })
    expect(whole.usage?.completion_tokens).toBe(4)
    const stream = await client.chat.completions.create({ model: 'sim-model', stream: true, max_tokens: 6, messages: [{ role: 'user', content: 'Hello' }] })
    let chunks = 0
    for await (const chunk of stream) {
      chunks += chunk.choices[0]?.delta.content ? 1 : 0
      // The client did not ask for it: the engine did, for itself.
      expect(chunk.usage ?? null).toBeNull()
    }
    expect(chunks).toBeGreaterThan(1)
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('sim-model')
  })

  it('sends a long prompt by way of a prefill endpoint, an image by way of an encode endpoint, and explains it', async () => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-model', max_tokens: 2, messages: [{ role: 'user', content: [{ type: 'text', text: `${SECRET} `.repeat(60) }, { type: 'image_url', image_url: { url: 'https://images.example/quince.png' } }] }] }),
    })
    await response.text()
    expect(response.status).toBe(200)
    expect(response.headers.get('x-signalbox-prefill-endpoint')).toBe('default/prefill-0')
    expect(response.headers.get('x-signalbox-encode-endpoints')).toBe('default/encode-0')
    const id = response.headers.get('x-request-id') ?? ''
    const { code, out } = await run('explain', folder.path, id)
    expect(code).toBe(0)
    for (const part of ['decode on', 'prefill on default/prefill-0', 'encode on default/encode-0', 'prefix-based-pd-decider: yes', 'always-disagg-multimodal-decider: yes', 'decode-filter removed 2']) expect(out).toContain(part)
  })

  it('holds no text and no token of a prompt in anything that it writes', async () => {
    await (await chat(server.url, SECRET)).text
    await (await chat(server.url, `${SECRET} `.repeat(60))).text
    await server.host.journal.close()
    const files = readdirSync(folder.path).filter((name) => name.startsWith('journal'))
    expect(files.length).toBeGreaterThan(0)
    // Estimated tokens are four bytes of the prompt each, so any of these would show one.
    const pieces = [SECRET, SECRET.slice(0, 16), SECRET.slice(20, 32), 'quince jam', 'Lindau']
    for (const name of files) {
      const bytes = readFileSync(join(folder.path, name))
      for (const piece of pieces) expect(bytes.includes(piece), `${name} holds "${piece}"`).toBe(false)
    }
    for (const piece of pieces) expect(server.lines.join('\n')).not.toContain(piece)
  })

  it('tells of itself on the admin side', async () => {
    expect((await fetch(`${server.adminUrl}/healthz`)).status).toBe(200)
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    for (const name of ['llm_d_epp_request_total', 'llm_d_epp_disagg_decision_total', 'llm_d_inference_scheduler_disagg_decision_total', 'llm_d_epp_scheduler_attempts_total', 'signalbox_turn_duration_seconds', 'signalbox_records_total', 'signalbox_journal_lag_records', 'signalbox_receipts', 'signalbox_scraped_endpoints', 'signalbox_http_stale_connections_total']) expect(metrics).toContain(name)
    expect(metrics).toMatch(/disagg_decision_total\{[^}]*decision_type="encode-prefill-decode"[^}]*\} [1-9]/)
    expect(metrics).toMatch(/^signalbox_http_requests_total [3-9]$/m)
    // Of the stream too, whose usage nobody but the engine asked for.
    expect(metrics).toMatch(/^llm_d_epp_request_output_tokens_count\{[^}]*\} 5$/m)
    const { endpoints } = (await (await fetch(`${server.adminUrl}/endpoints`)).json()) as { endpoints: { id: string; requests: number }[] }
    expect(endpoints.map(({ id }) => id)).toEqual(['default/decode-0', 'default/decode-1', 'default/encode-0', 'default/prefill-0'])
    expect(endpoints.every(({ requests }) => requests === 0)).toBe(true)
  })
})
