import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Engine } from '../../../src/simulation/index.ts'
import { run } from '../../story/server.ts'
import { ask, chat, pdFleet } from './fleet.ts'
import type { PdFleet } from './fleet.ts'

const PROMPT = 'The stationmaster keeps a list of every train that has passed the eastern gate. '.repeat(40)

/** Requests that the tests below send to each fleet. */
const ASKED = 15

interface FleetCase {
  readonly engine: Engine
  readonly connector: string
  /** Whether the decode endpoint gets the prefilled blocks; where not it does all the work again. */
  readonly handsOver: boolean
}

const CASES: readonly FleetCase[] = [
  { engine: 'vllm', connector: 'shfs', handsOver: true },
  { engine: 'vllm', connector: 'nixl', handsOver: true },
  { engine: 'vllm', connector: 'mooncake', handsOver: false },
  { engine: 'sglang', connector: 'shfs', handsOver: true },
  { engine: 'trtllm-serve', connector: 'shfs', handsOver: true },
]

describe.each(CASES)('a prefill/decode fleet of $engine ($connector) behind the front door, without sidecar', ({ engine, connector, handsOver }) => {
  let fleet: PdFleet
  beforeAll(async () => {
    fleet = await pdFleet(engine, { kvConnectorType: connector, prefixCacheBlockSize: 128 })
  })
  afterAll(() => fleet.close())

  it('prefills on one endpoint and decodes on another of its roleset', async () => {
    const { status, headers, text } = await ask(fleet.server.url, chat(PROMPT, { stream: true }))
    expect(status).toBe(200)
    expect(text).toContain('data: [DONE]')
    const prefill = headers.get('prefill-target-pod') ?? ''
    expect(headers.get('target-pod')).toBe(prefill.replace('prefill', 'decode'))
    expect(headers.get('prefill-target-pod-ip')).toBe('127.0.0.1')
    expect(headers.get('routing-strategy')).toBe('pd')
    const served = new Map(fleet.pool.state().endpoints.map(({ name, served }) => [name, served]))
    expect(served.get(prefill)).toMatchObject({ prefill: 1, decode: 0, plain: 0 })
    expect(served.get(prefill.replace('prefill', 'decode'))).toMatchObject(handsOver ? { decode: 1, plain: 0 } : { decode: 0, plain: 1 })
  })

  it('says at its start by which policies it goes', () => {
    const lines = fleet.server.lines.join('\n')
    expect(lines).toContain('pd_router prefill score policy')
    expect(lines).toMatch(/"policy":"load_balancing","describe":"[^"]*running[^"]*"[^\n]*pd_router decode score policy/)
  })

  it('takes a body with numbers beyond a double, and an answer that is not streamed', async () => {
    const { status, text } = await ask(fleet.server.url, `{"model":"sim-model","seed":12345678901234567890,"max_tokens":3,"messages":[{"role":"user","content":"${PROMPT}"}]}`)
    expect(status).toBe(200)
    expect((JSON.parse(text) as { usage: { completion_tokens: number } }).usage.completion_tokens).toBe(3)
  })

  it('explains the pair, and what it measured', async () => {
    for (let i = 0; i < 4; i++) await ask(fleet.server.url, chat(`${PROMPT} again`))
    const { headers } = await ask(fleet.server.url, chat(PROMPT))
    const { out, errors } = await run('explain', fleet.folder, headers.get('x-request-id') ?? '')
    expect(errors).toBe('')
    expect(out).toMatch(/note: decode default\/decode-\d: 0 running, 0 pending/)
    if (engine === 'vllm') expect(out).toMatch(/note: prefill default\/prefill-\d: (?!0 ms)[\d.]+ ms a prefill/)
    for (const part of ['pairs, the lowest final score wins', 'roleset-0', 'roleset-1', 'prefix_cache', 'load_balancing']) expect(out).toContain(part)
  })

  it('holds nothing once all is over, and counted each prefill', async () => {
    const before = await metrics(fleet)
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(fleet.server.url, chat(`${PROMPT} ${i}`))))
    const after = await metrics(fleet)
    expect(after.succeeded - before.succeeded).toBe(8)
    // A client has its answer a moment before its end is told. Of SGLang's prefill, beside the decode, no phase is known.
    await vi.waitFor(async () => expect((await metrics(fleet)).phases).toEqual(engine === 'sglang' ? [ASKED, 0, 0] : [ASKED, ASKED, ASKED]))
    expect(after).toMatchObject({ outstanding: 0, failed: 0 })
    const { endpoints } = (await (await fetch(`${fleet.server.adminUrl}/endpoints`)).json()) as { endpoints: { requests: number }[] }
    expect(endpoints.map(({ requests }) => requests)).toEqual([0, 0, 0, 0])
  })
})

interface PrefillMetrics {
  readonly succeeded: number
  readonly failed: number
  readonly outstanding: number
  /** Requests in any bucket of: all of the time, the prefill, the transfer. */
  readonly phases: readonly number[]
}

const metrics = async (fleet: PdFleet): Promise<PrefillMetrics> => {
  const text = await (await fetch(`${fleet.server.adminUrl}/metrics`)).text()
  const sum = (name: string): number => [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce((total, [, value]) => total + Number(value), 0)
  return { succeeded: sum('gateway_prefill_request_success_total'), failed: sum('gateway_prefill_request_fail_total'), outstanding: sum('gateway_prefill_outstanding_requests'), phases: ['total', 'prefill', 'kv_transfer'].map((phase) => sum(`gateway_${phase}_time_bucket_total`)) }
}
