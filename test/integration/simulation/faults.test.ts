import { describe, expect, it } from 'vitest'
import { chat, post, started, stateOf } from './started.ts'

const faultsOf = async (url: string, faults: object): Promise<number> => (await post(`${url}/sim/faults`, faults)).status
const failureOf = async (asked: Promise<unknown>): Promise<unknown> => asked.then(() => undefined, (error: unknown) => error)

describe('faults on demand', () => {
  it('fails so many requests, then serves again', async () => {
    const endpoint = await started()
    expect(await faultsOf(endpoint.url, { failStatus: 503, count: 2 })).toBe(200)
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await post(`${endpoint.url}/v1/chat/completions`, chat('x'))).status)
    expect(statuses).toEqual([503, 503, 200])
    expect(endpoint.state().faults).toMatchObject({ failStatus: undefined, count: undefined })
  })

  it('stalls: takes the request and never answers, while its metrics still do', async () => {
    const endpoint = await started()
    await faultsOf(endpoint.url, { stall: true, count: 1 })
    const leave = new AbortController()
    let answered = false
    const stalled = fetch(`${endpoint.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(chat('x')), signal: leave.signal })
      .then(() => void (answered = true), () => undefined)
    await stateOf(endpoint, ({ faults }) => !faults.stall)
    expect((await post(`${endpoint.url}/v1/chat/completions`, chat('x'))).status).toBe(200)
    expect((await fetch(`${endpoint.url}/metrics`)).status).toBe(200)
    expect(answered).toBe(false)
    leave.abort()
    await stalled
  })

  it.each([0, 3])('drops the connection after %d streamed tokens', async (tokens) => {
    const endpoint = await started()
    await faultsOf(endpoint.url, { dropMidStreamAfterTokens: tokens, count: 1 })
    const answer = await fetch(`${endpoint.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(chat('x', { stream: true, max_tokens: 1000 })) })
    let text = ''
    const failure = await failureOf((async () => {
      for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(piece)
    })())
    expect(failure).toBeInstanceOf(TypeError)
    expect(text.match(/"content":" \w{3}"/g) ?? []).toHaveLength(tokens)
    expect(await stateOf(endpoint, ({ aborted }) => aborted === 1)).toMatchObject({ running: 0, kvBlocksUsed: 0 })
  })

  it('refuses connections and listens again on the same port', async () => {
    const endpoint = await started()
    expect(await faultsOf(endpoint.url, { refuse: true })).toBe(200)
    await stateOf(endpoint, ({ faults }) => faults.refuse)
    expect(await failureOf(fetch(`${endpoint.url}/health`))).toBeInstanceOf(TypeError)
    await endpoint.setFaults({})
    expect((await fetch(`${endpoint.url}/health`)).status).toBe(200)
  })

  it('comes back by itself when told for how long to refuse', async () => {
    const endpoint = await started()
    await endpoint.setFaults({ refuse: true, refuseMs: 20 })
    expect(await failureOf(fetch(`${endpoint.url}/health`))).toBeInstanceOf(TypeError)
    await stateOf(endpoint, ({ faults }) => !faults.refuse)
    await expect.poll(async () => (await fetch(`${endpoint.url}/health`)).status).toBe(200)
  })

  it('breaks off what is in flight when it refuses', async () => {
    const endpoint = await started({ speed: 1 })
    const asked = failureOf(post(`${endpoint.url}/v1/chat/completions`, chat('x', { max_tokens: 10_000 })))
    await stateOf(endpoint, ({ running }) => running === 1)
    await endpoint.setFaults({ refuse: true })
    expect(await asked).toBeInstanceOf(TypeError)
    expect(await stateOf(endpoint, ({ aborted }) => aborted === 1)).toMatchObject({ running: 0, kvBlocksUsed: 0 })
  })

  it('shows garbage for metrics', async () => {
    const endpoint = await started()
    await faultsOf(endpoint.url, { garbage: true })
    const answer = await fetch(`${endpoint.url}/metrics`)
    expect([answer.status, (await answer.text()).includes('vllm:')]).toEqual([200, false])
  })

  it('takes so many times as long when slow', async () => {
    const [endpoint, slow] = [await started({ speed: 20 }), await started({ speed: 20 })]
    await slow.setFaults({ slowFactor: 1000 })
    const leave = new AbortController()
    const late = fetch(`${slow.url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify(chat('x')), signal: leave.signal }).catch(() => undefined)
    await stateOf(slow, ({ running }) => running === 1)
    expect((await post(`${endpoint.url}/v1/chat/completions`, chat('x'))).status).toBe(200)
    expect(slow.state()).toMatchObject({ running: 1, generationTokens: 0 })
    leave.abort()
    await late
  })

  it('refuses faults that it does not know', async () => {
    const endpoint = await started()
    expect(await faultsOf(endpoint.url, { slow: 2 })).toBe(400)
  })
})
