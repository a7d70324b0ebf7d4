import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PrefixCeiling } from '../../../../src/simulation/trace/prefix-ceiling.ts'
import { readTrace } from '../../../../src/simulation/trace/trace.ts'
import { TraceError } from '../../../../src/simulation/trace/trace-request.ts'
import type { TraceFormat, TraceRequest } from '../../../../src/simulation/trace/trace-request.ts'

const DATA = new URL('../../../data/traces/', import.meta.url).pathname
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'traces-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

async function load(file: string, format?: TraceFormat): Promise<TraceRequest[]> {
  const requests: TraceRequest[] = []
  for await (const request of readTrace(file, format)) requests.push(request)
  return requests
}

async function given(name: string, ...lines: string[]): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, lines.join('\n'))
  return file
}

function figures(requests: readonly TraceRequest[]): number[] {
  const ceiling = new PrefixCeiling()
  for (const request of requests) ceiling.add(request)
  return [ceiling.requests, ceiling.inputTokens, ceiling.outputTokens, ceiling.blocks, ceiling.uniqueBlocks, ceiling.hitBlocks, ceiling.hitTokens]
}

describe('trace loaders', () => {
  it.each([
    ['mooncake-conversation.jsonl', [200, 2_782_179, 71_379, 5_537, 5_215, 322, 164_864]],
    ['azure-conversation.csv', [200, 180_695, 47_050, 0, 0, 0, 0]],
    ['agentic-session.jsonl', [7, 202_068, 2_113, 3_155, 2_055, 1_100, 70_400]],
  ])('reads %s with the known figures, in order of arrival', async (name, expected) => {
    const requests = await load(DATA + name)
    expect(figures(requests)).toEqual(expected)
    expect(requests.map((request) => request.index)).toEqual(requests.map((_, index) => index))
    const times = requests.map((request) => request.atMs)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(times[0]).toBe(0)
  })

  it('keeps the seven digits of Azure times', async () => {
    const [first, second] = await load(`${DATA}azure-conversation.csv`)
    expect((second as TraceRequest).atMs - (first as TraceRequest).atMs).toBeCloseTo(4314.579, 6)
  })

  it('gives sub-agents their times and the ids of their session', async () => {
    const requests = await load(`${DATA}agentic-session.jsonl`)
    expect(requests.map((request) => request.atMs)).toEqual([0, 19_000, 114_000, 1_148_013, 1_153_013, 1_180_553, 1_185_553])
    expect(new Set(requests.map((request) => request.scope))).toEqual(new Set(['trace_0291']))
    expect(requests.every((request) => request.blockTokens === 64 && request.blockIds.length === Math.floor(request.inputTokens / 64))).toBe(true)
  })

  it('interleaves sessions that run side by side', async () => {
    const session = (id: string, t: number): string => JSON.stringify({ id, block_size: 64, requests: [{ t, in: 70, out: 1, hash_ids: [1] }, { t: t + 10, in: 70, out: 1, hash_ids: [1] }] })
    const requests = await load(await given('sessions.jsonl', session('a', 0), session('b', 5)))
    expect(requests.map((request) => `${request.atMs} ${request.scope}`)).toEqual(['0 a', '5000 b', '10000 a', '15000 b'])
    expect(figures(requests)).toEqual([4, 280, 4, 4, 2, 2, 128])
  })

  it('reads Bailian traces: seconds and 16-token blocks', async () => {
    const row = JSON.stringify({ chat_id: 1, parent_chat_id: -1, timestamp: 1.5, input_length: 20, output_length: 3, type: 'text', turn: 1, hash_ids: [4, 5] })
    expect(await load(await given('bailian.jsonl', row))).toEqual([
      { index: 0, atMs: 1500, inputTokens: 20, outputTokens: 3, blockTokens: 16, blockIds: [4, 5], scope: '' },
    ])
  })

  it('takes blank lines and Windows line ends', async () => {
    const row = '{"timestamp": 3, "input_length": 5, "output_length": 1, "hash_ids": [0]}\r'
    expect(await load(await given('blank.jsonl', '', row, '\r', row))).toHaveLength(2)
  })

  const mooncake = (change: object): string => JSON.stringify({ timestamp: 0, input_length: 513, output_length: 1, hash_ids: [1, 2], ...change })
  it.each<[string, TraceFormat | undefined, number, string, string[]]>([
    ['cut JSON', undefined, 2, 'not valid JSON', [mooncake({}), '{"timestamp": 4, "inp']],
    ['no object', undefined, 2, 'not a JSON object', [mooncake({}), '[1]']],
    ['no known format', undefined, 1, '--format', ['{"a": 1}']],
    ['plain text', undefined, 1, '--format', ['hello']],
    ['a negative length', undefined, 1, '`input_length` is -1', [mooncake({ input_length: -1 })]],
    ['half a token', undefined, 1, 'whole number', [mooncake({ output_length: 1.5 })]],
    ['a missing time', 'mooncake', 1, '`timestamp` is missing', [mooncake({ timestamp: undefined })]],
    ['more blocks than fit', undefined, 1, 'has 2 blocks, the prompt has room for 1', [mooncake({ input_length: 512 })]],
    ['ids that are no numbers', undefined, 1, '`hash_ids` is not a list', [mooncake({ hash_ids: ['a'] })]],
    ['a wrong CSV header', undefined, 1, 'column names', ['TIMESTAMP,Context', '2023-11-16 18:15:46.68,1,1']],
    ['a wrong time', undefined, 2, 'TIMESTAMP is `16.11.`', ['TIMESTAMP,ContextTokens,GeneratedTokens', '16.11.,1,1']],
    ['a cut CSV line', undefined, 3, 'cells', ['TIMESTAMP,ContextTokens,GeneratedTokens', '2023-11-16 18:15:46.68,1,1', '2023-11-16 18']],
    ['a wrong count', undefined, 2, 'GeneratedTokens is `x`', ['TIMESTAMP,ContextTokens,GeneratedTokens', '2023-11-16 18:15:46.68,1,x']],
    ['a session without blocks', undefined, 1, '`block_size` is missing', ['{"id": "a", "requests": []}']],
    ['a session twice', undefined, 2, 'stands twice', ['{"id": "a", "block_size": 64, "requests": []}', '{"id": "a", "block_size": 64, "requests": []}']],
    ['a wrong request in a sub-agent', undefined, 1, '`requests[0].requests[0].out`', ['{"id":"a","block_size":64,"requests":[{"t":0,"type":"subagent","requests":[{"t":0,"in":70,"hash_ids":[1]}]}]}']],
    ['nothing', undefined, 1, 'empty', ['']],
  ])('refuses %s, naming file, line and fix', async (name, format, line, message, lines) => {
    const file = await given(`${name.replaceAll(' ', '-')}.trace`, ...lines)
    const failure: unknown = await load(file, format).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(TraceError)
    expect((failure as TraceError).message).toContain(`${file}:${line}: `)
    expect((failure as TraceError).message).toContain(message)
  })

  it('refuses a file that is not there', async () => {
    await expect(load(join(folder, 'none.jsonl'))).rejects.toThrow(TraceError)
  })
})
