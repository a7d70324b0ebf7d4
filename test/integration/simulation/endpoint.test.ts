import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { startEndpoint } from '../../../src/simulation/endpoint/endpoint.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/endpoint/endpoint.ts'
import { chat, post, started, stateOf } from './started.ts'

const clientOf = (endpoint: SimulatedEndpoint): OpenAI => new OpenAI({ baseURL: `${endpoint.url}/v1`, apiKey: 'none', maxRetries: 0 })
const LONG = 'four'.repeat(64)

describe('simulated endpoint', () => {
  it('given a chat request, when it streams, then the official client reads every token, the finish and the usage', async () => {
    const endpoint = await started()
    const stream = await clientOf(endpoint).chat.completions.create({
      model: 'sim-model', messages: [{ role: 'user', content: LONG }], max_completion_tokens: 5, stream: true, stream_options: { include_usage: true },
    })
    const pieces: string[] = []
    let finish: string | null = null
    let usage: OpenAI.CompletionUsage | null | undefined
    for await (const chunk of stream) {
      const choice = chunk.choices[0]
      if (choice?.delta.content) pieces.push(choice.delta.content)
      finish = choice?.finish_reason ?? finish
      usage = chunk.usage ?? usage
    }
    expect(pieces).toHaveLength(5)
    expect(finish).toBe('length')
    expect(usage).toEqual({ prompt_tokens: 65, completion_tokens: 5, total_tokens: 70, prompt_tokens_details: { cached_tokens: 0 } })
  })

  it('given no include_usage, when it streams, then there is no usage chunk', async () => {
    const endpoint = await started()
    const answer = await fetch(`${endpoint.url}/v1/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', prompt: LONG, stream: true }) })
    const text = await answer.text()
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(text).not.toContain('"usage"')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(text.match(/^data: \{/gm)).toHaveLength(16 + 1)
  })

  it('given the same prompt twice, then the answer is the same and the prefix is cached up to its last token', async () => {
    const endpoint = await started()
    const [first, second] = [await post(`${endpoint.url}/v1/completions`, { model: 'sim-model', prompt: LONG }), await post(`${endpoint.url}/v1/completions`, { model: 'sim-model', prompt: LONG })]
    const read = ({ body }: typeof first): unknown => [(body['choices'] as { text: string }[])[0]?.text, (body['usage'] as { prompt_tokens_details: unknown }).prompt_tokens_details]
    expect(read(first)).toEqual([expect.stringMatching(/^( \w{3}){16}$/), { cached_tokens: 0 }])
    expect(read(second)).toEqual([(read(first) as unknown[])[0], { cached_tokens: 48 }])
    expect(endpoint.state()).toMatchObject({ cacheQueries: 128, cacheHits: 48, kvBlocksUsed: 0, running: 0, waiting: 0 })
  })

  it('given a responses request, then the official client reads its events and its whole form', async () => {
    const client = clientOf(await started())
    const stream = await client.responses.create({ model: 'sim-model', input: LONG, max_output_tokens: 3, stream: true })
    const types: string[] = []
    let output: number | undefined
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.completed') output = event.response.usage?.output_tokens
    }
    expect(types.filter((type) => type === 'response.output_text.delta')).toHaveLength(3)
    expect([types[0], types.at(-1), output]).toEqual(['response.created', 'response.completed', 3])
    const whole = await client.responses.create({ model: 'sim-model', input: LONG, max_output_tokens: 3 })
    expect(whole.output_text).toMatch(/^( \w{3}){3}$/)
    expect(whole.usage).toMatchObject({ input_tokens: 64, output_tokens: 3, input_tokens_details: { cached_tokens: 48 } })
  })

  it('given an embeddings request, then it gives a unit vector that depends on the text', async () => {
    const client = clientOf(await started())
    const vector = async (input: string): Promise<number[]> => (await client.embeddings.create({ model: 'sim-model', input, encoding_format: 'float' })).data[0]?.embedding ?? []
    const [one, again, other] = [await vector('one'), await vector('one'), await vector('other')]
    expect(again).toEqual(one)
    expect(other).not.toEqual(one)
    expect(one.reduce((sum, value) => sum + value * value, 0)).toBeCloseTo(1)
  })

  it('given adapters, then they are served and listed, and other models are not found', async () => {
    const endpoint = await started({ model: 'base-model', adapters: ['tuned'] })
    const models = await clientOf(endpoint).models.list()
    expect(models.data.map((model) => model.id)).toEqual(['base-model', 'tuned'])
    expect((await post(`${endpoint.url}/v1/chat/completions`, chat('x', { model: 'tuned' }))).status).toBe(200)
    expect(await post(`${endpoint.url}/v1/chat/completions`, chat('x'))).toEqual({
      status: 404, body: { error: { message: 'The model `sim-model` does not exist.', type: 'NotFoundError', param: null, code: 404 } },
    })
  })

  it('given more tokens than it has KV blocks, then it refuses with 400', async () => {
    const endpoint = await started({ timing: { blockCount: 4 } })
    const { status, body } = await post(`${endpoint.url}/v1/completions`, { model: 'sim-model', prompt: LONG })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('maximum context length is 64 tokens')
  })

  it.each(['/v1/chat/completions', '/nothing'])('given a wrong request to %s, then it answers with an error object', async (path) => {
    const endpoint = await started()
    const { status, body } = await post(endpoint.url + path, {})
    expect(status).toBe(path === '/nothing' ? 404 : 400)
    expect(body).toHaveProperty('error.message')
  })

  it('given running and waiting work, then the metrics show both while they last', async () => {
    const endpoint = await started({ speed: 1, timing: { maxRunning: 1, blockCount: 64 } })
    const leave = new AbortController()
    const ask = (prompt: string): Promise<unknown> => fetch(`${endpoint.url}/v1/completions`, {
      method: 'POST', body: JSON.stringify({ model: 'sim-model', prompt, max_tokens: 500 }), signal: leave.signal,
    }).catch(() => undefined)
    const asked = [ask('one'), ask('two')]
    await stateOf(endpoint, ({ running, waiting }) => running === 1 && waiting === 1)
    const metrics = await (await fetch(`${endpoint.url}/metrics`)).text()
    const value = (name: string): number => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1])
    expect([value('vllm:num_requests_running'), value('vllm:num_requests_waiting'), value('vllm:kv_cache_usage_perc')]).toEqual([1, 1, 0.5])
    expect(metrics).toContain('block_size="16"')
    leave.abort()
    await Promise.all(asked)
    await stateOf(endpoint, ({ running, waiting }) => running === 0 && waiting === 0)
  })

  it('given a client that leaves in the middle, then its work is aborted and its KV is free at once', async () => {
    const endpoint = await started({ speed: 1 })
    const leave = new AbortController()
    const answer = await fetch(`${endpoint.url}/v1/completions`, {
      method: 'POST', body: JSON.stringify({ model: 'sim-model', prompt: LONG, max_tokens: 100_000, stream: true }), signal: leave.signal,
    })
    expect(answer.status).toBe(200)
    expect(endpoint.state().kvBlocksUsed).toBe(Math.ceil((64 + 100_000) / 16))
    leave.abort()
    expect(await stateOf(endpoint, ({ aborted }) => aborted === 1)).toMatchObject({ running: 0, waiting: 0, kvBlocksUsed: 0 })
  })

  it('given a grace, when it closes, then work in flight ends before the port is free', async () => {
    const endpoint = await startEndpoint({ speed: 50 })
    const answer = await fetch(`${endpoint.url}/v1/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', prompt: LONG, max_tokens: 50, stream: true }) })
    const closed = endpoint.close(10_000)
    expect((await answer.text()).endsWith('data: [DONE]\n\n')).toBe(true)
    await closed
    await expect(fetch(`${endpoint.url}/health`)).rejects.toThrow()
  })

  it('given work that outlasts the grace, when it closes, then the connection is ended', async () => {
    const endpoint = await startEndpoint({ speed: 1 })
    const answer = await fetch(`${endpoint.url}/v1/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', prompt: LONG, max_tokens: 100_000, stream: true }) })
    await endpoint.close(10)
    await expect(answer.text()).rejects.toThrow()
    expect(endpoint.state().kvBlocksUsed).toBe(0)
  })

  it.each([[{ speed: 0 }, 'speed'], [{ role: 'decoder' as 'decode' }, 'role'], [{ engine: 'vLLM' as 'vllm' }, 'engine'], [{ timing: { maxRunning: 0 } }, 'maxRunning']])('refuses the options %j', async (options, name) => {
    await expect(startEndpoint(options)).rejects.toThrow(name)
  })

  it('refuses a port that is taken', async () => {
    const endpoint = await started()
    await expect(startEndpoint({ port: endpoint.port })).rejects.toThrow('EADDRINUSE')
  })
})
