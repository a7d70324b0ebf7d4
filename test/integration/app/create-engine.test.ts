import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/app/index.ts'
import type { LocalEngine } from '../../../src/app/index.ts'

const engineWith = async (names: readonly string[], configuration?: string): Promise<LocalEngine> => {
  const engine = await createEngine({ settings: { seed: '7' }, ...(configuration === undefined ? {} : { configuration }) })
  names.forEach((name, i) => engine.join({ name, address: '10.0.0.1', port: 8000 + i }))
  return engine
}

const body = (content: string): { path: string; bytes: Uint8Array } => ({
  path: '/v1/chat/completions',
  bytes: new TextEncoder().encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })),
})

describe('an engine within a process', () => {
  it('schedules a body on the endpoint with the shorter queue, and counts it until its end', async () => {
    const engine = await engineWith(['a', 'b'])
    const taken = new Promise<void>((resolve) => engine.host.actor.turns.subscribe(({ turn }) => {
      if (turn.record.input?.input?.kind === 'telemetryTick') resolve()
    }))
    engine.report('default/a', { waitingQueueSize: 9 })
    engine.report('default/b', { waitingQueueSize: 1 })
    await taken
    const reply = await engine.schedule({ requestId: 'r1', body: body('Hello') })
    expect(reply).toMatchObject({ kind: 'routed', endpoint: { id: 'default/b', hostPort: '10.0.0.1:8001' } })
    expect(engine.receipts(reply.request)[0]?.profiles[0]?.scorers.map(({ plugin }) => plugin)).toContain('queue-scorer')
    engine.sent(reply.request, 1)
    engine.started(reply.request, 1)
    expect(engine.host.actor.engine.view.ledger.requests()).toEqual([reply.request])
    engine.ended(reply.request, 1)
    expect(engine.host.actor.engine.view.ledger.requests()).toEqual([])
    await engine.close()
  })

  it('answers a failed attempt with another endpoint, and the last one with a refusal', async () => {
    const engine = await engineWith(['a', 'b'])
    const first = await engine.schedule({ model: 'm' })
    if (first.kind !== 'routed') throw new Error('not routed')
    const second = await engine.attemptFailed(first.request, 1, first.endpoint.id, 'connect')
    if (second.kind !== 'routed') throw new Error('not routed')
    expect(second.endpoint.id).not.toBe(first.endpoint.id)
    expect(await engine.attemptFailed(first.request, 2, second.endpoint.id, 'reset')).toMatchObject({ kind: 'rejected', denial: { status: 502 } })
    await engine.close()
  })

  it('refuses what is not a request, and an endpoint without a port, with the reason', async () => {
    const engine = await engineWith([])
    expect(await engine.schedule({ body: { path: '/v1/chat/completions', bytes: new TextEncoder().encode('{') } })).toMatchObject({ kind: 'rejected', denial: { status: 400 } })
    expect(await engine.schedule({ model: 'm' })).toMatchObject({ kind: 'rejected', denial: { status: 503, reason: 'rejected-no-endpoints' } })
    expect(() => engine.join({ name: 'x', address: '10.0.0.1', port: 0 })).toThrow(/port 0/)
    expect(() => engine.report('default/x', {})).toThrow(/default\/x/)
    await engine.close()
  })

  it('is not made from a wrong configuration', async () => {
    await expect(createEngine({ configuration: 'kind: EndpointPickerConfig\napiVersion: llm-d.ai/v1alpha1\nplugins:\n- type: queue-scorrer\n' })).rejects.toThrow(/queue-scorer/)
  })
})
