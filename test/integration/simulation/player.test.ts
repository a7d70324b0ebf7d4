import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { playTrace } from '../../../src/simulation/play/player.ts'
import type { PlayOptions } from '../../../src/simulation/play/player.ts'
import { readTrace } from '../../../src/simulation/trace/trace.ts'
import type { TraceRequest } from '../../../src/simulation/trace/trace-request.ts'
import { closed, listening } from '../../story/listening.ts'
import { started, stateOf } from './started.ts'

const MOONCAKE = new URL('../../data/traces/mooncake-conversation.jsonl', import.meta.url).pathname
const AGENTIC = new URL('../../data/traces/agentic-session.jsonl', import.meta.url).pathname
const servers: Server[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map(closed))
})

const options = (url: string, change: Partial<PlayOptions> = {}): PlayOptions => ({
  url, model: 'sim-model', imageShare: 0, maxOutput: 5, salt: '', speed: 1000, concurrency: 64, offset: 0, limit: Infinity, timeoutMs: 10_000, ...change,
})

async function door(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  return `http://127.0.0.1:${await listening(server)}`
}

async function* requests(...atMs: number[]): AsyncGenerator<TraceRequest> {
  for (const [index, at] of atMs.entries()) {
    yield await Promise.resolve({ index, atMs: at, inputTokens: 64, outputTokens: 2, blockTokens: 16, blockIds: [1, 2, 3, 4], scope: '' })
  }
}

const CHUNK = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n'
const END = 'data: {"choices":[],"usage":{"prompt_tokens":64,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":16}}}\n\ndata: [DONE]\n\n'

describe('trace player', () => {
  it('plays a trace against an endpoint: everything completes, prefix hits reach the ceiling', async () => {
    const endpoint = await started({ speed: 1000, timing: { blockCount: 1_000_000 } })
    const report = await playTrace(readTrace(MOONCAKE), options(endpoint.url, { limit: 100, concurrency: 1 }))
    expect(report).toMatchObject({ sent: 100, completed: 100, failed: 0, interrupted: false, errors: [] })
    expect(endpoint.state().served.plain).toBe(100)
    // Blocks of 16 tokens in an endless cache find all of the ceiling but the rests of partial blocks.
    expect(report.prefix.ofCeiling).toBeGreaterThan(0.99)
    expect(report.prefix.ofCeiling).toBeLessThanOrEqual(1)
    expect(report.prefix.cachedTokens).toBe(endpoint.state().cacheHits)
    expect(report.firstTokenMs.p50).toBeGreaterThan(0)
    expect(report.endToEndMs.p99).toBeGreaterThanOrEqual(report.firstTokenMs.p99 as number)
  })

  it('sends prompts that measure exactly the tokens of the trace', async () => {
    const endpoint = await started({ speed: 1000, timing: { blockCount: 1_000_000 } })
    const report = await playTrace(readTrace(AGENTIC), options(endpoint.url, { concurrency: 1, speed: 1e6 }))
    expect(report).toMatchObject({ completed: 7, promptTokens: 202_068, prefix: { ceilingTokens: 70_400, cachedTokens: 70_400, ofCeiling: 1 } })
  })

  it('keeps offset and limit, and counts the ceiling of what was sent alone', async () => {
    const endpoint = await started({ speed: 1000 })
    const report = await playTrace(requests(0, 1, 2, 3), options(endpoint.url, { offset: 1, limit: 2, concurrency: 1 }))
    expect(report).toMatchObject({ sent: 2, completed: 2, prefix: { ceilingTokens: 64 } })
  })

  it('keeps arrival times, divided by the speed', async () => {
    const arrivals: number[] = []
    const url = await door((_request, response) => {
      arrivals.push(performance.now())
      response.end(CHUNK + END)
    })
    const report = await playTrace(requests(5000, 5600, 6200), options(url, { speed: 10 }))
    expect(report.completed).toBe(3)
    expect((arrivals[2] as number) - (arrivals[0] as number)).toBeGreaterThan(100)
    expect(report.durationMs).toBeGreaterThanOrEqual(120)
  })

  it('holds requests back beyond the concurrency, and says so', async () => {
    let live = 0
    let most = 0
    const waiting: (() => void)[] = []
    const url = await door((_request, response) => {
      most = Math.max(most, ++live)
      waiting.push(() => {
        live--
        response.end(CHUNK + END)
      })
      if (live === 2) setImmediate(() => waiting.splice(0).forEach((answer) => answer()))
    })
    const report = await playTrace(requests(0, 0, 0, 0, 0, 0), options(url, { concurrency: 2 }))
    expect([report.completed, most]).toEqual([6, 2])
    expect(report.heldBack).toBeGreaterThan(0)
  })

  it('counts endpoints by stage from the headers of the front door', async () => {
    let count = 0
    const url = await door((_request, response) => {
      response.setHeader('x-signalbox-decode-endpoint', `default/decode-${count % 2}`)
      if (count++ === 0) {
        response.setHeader('x-signalbox-prefill-endpoint', 'default/prefill-0')
        response.setHeader('x-signalbox-encode-endpoints', 'default/encode-0, default/encode-1')
      }
      response.end(CHUNK + END)
    })
    const { endpoints } = await playTrace(requests(0, 0, 0, 0), options(url))
    expect(endpoints.decode.map(({ endpoint, share }) => [endpoint, share])).toEqual([['default/decode-0', 0.5], ['default/decode-1', 0.5]])
    expect(endpoints.prefill.map(({ requests: served }) => served)).toEqual([1])
    expect(endpoints.encode).toHaveLength(2)
  })

  it('keeps a path in front of /v1', async () => {
    const paths: (string | undefined)[] = []
    const url = await door((request, response) => {
      paths.push(request.url)
      response.end(CHUNK + END)
    })
    await playTrace(requests(0), options(`${url}/pool/a/`))
    expect(paths).toEqual(['/pool/a/v1/chat/completions'])
  })

  it('counts failures by kind', async () => {
    const answers: RequestListener[] = [
      (_request, response) => response.writeHead(503).end('busy'),
      (_request, response) => response.end(CHUNK),
      (_request, response) => response.end(`${CHUNK}data: {"error":{"message":"evicted"}}\n\n`),
      (_request, response) => void response.write(CHUNK, () => response.socket?.resetAndDestroy()),
      (_request, response) => response.end(CHUNK + END),
    ]
    const url = await door((request, response) => answers.shift()?.(request, response))
    const report = await playTrace(requests(0, 0, 0, 0, 0), options(url, { concurrency: 1 }))
    expect(report).toMatchObject({ sent: 5, completed: 1, failed: 4 })
    expect(report.errors.map(({ kind, count }) => `${count} ${kind}`).toSorted()).toEqual([
      '1 connection reset', '1 error in stream', '1 incomplete', '1 status 503',
    ])
    expect(report.errors.find(({ kind }) => kind === 'status 503')?.example).toBe('busy')
  })

  it('counts a front door that is not there', async () => {
    const endpoint = await started()
    await endpoint.setFaults({ refuse: true })
    const report = await playTrace(requests(0, 0), options(endpoint.url))
    expect(report.errors.map(({ kind, count }) => [kind, count])).toEqual([['connection refused', 2]])
  })

  it('counts a request without an answer as timed out', async () => {
    const endpoint = await started()
    await endpoint.setFaults({ stall: true })
    const report = await playTrace(requests(0), options(endpoint.url, { timeoutMs: 100 }))
    expect(report.errors.map(({ kind }) => kind)).toEqual(['timeout'])
  })

  it('stops when told: nothing more is sent, what is in flight is broken off', async () => {
    const endpoint = await started({ speed: 1 })
    const stop = new AbortController()
    const playing = playTrace(requests(0, 0, 3_600_000), options(endpoint.url, { maxOutput: 2, speed: 1, signal: stop.signal }))
    await stateOf(endpoint, ({ running, waiting }) => running + waiting === 2)
    await endpoint.setFaults({ slowFactor: 1e6 })
    stop.abort()
    expect(await playing).toMatchObject({ sent: 2, completed: 0, failed: 2, interrupted: true, errors: [{ kind: 'interrupted', count: 2 }] })
    await stateOf(endpoint, ({ aborted }) => aborted === 2)
  })

  it('throws what is wrong with the trace, and leaves no request behind', async () => {
    const endpoint = await started({ speed: 1 })
    async function* broken(): AsyncGenerator<TraceRequest> {
      yield* requests(0)
      await stateOf(endpoint, ({ running }) => running === 1)
      throw new Error('line 2 is broken')
    }
    await expect(playTrace(broken(), options(endpoint.url))).rejects.toThrow('line 2 is broken')
    expect(await stateOf(endpoint, ({ aborted }) => aborted === 1)).toMatchObject({ running: 0, waiting: 0 })
  })

  it('tells its progress', async () => {
    const endpoint = await started({ speed: 1000 })
    const seen: string[] = []
    await playTrace(requests(0, 0), options(endpoint.url, { concurrency: 1, onProgress: ({ sent, completed, inFlight }) => seen.push(`${sent} ${completed} ${inFlight}`) }))
    expect(seen).toEqual(['1 0 1', '1 1 0', '2 1 1', '2 2 0'])
  })
})
