import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { playTrace, readTrace } from '../../../src/simulation/index.ts'
import { ROOT } from '../../docs/repository.ts'
import { fleetIn, run, serveIn, temporaryFolder } from '../../story/server.ts'
import { ask, chat, configurationOf } from './fleet.ts'

const TRACE = join(ROOT, 'test/data/traces/mooncake-conversation-2000.jsonl')
const LIMIT = 300
const SPEED = 10

describe('a slice of production traffic through the front door that runs the prefills', { timeout: 240_000 }, () => {
  it.each(['vllm', 'sglang', 'trtllm-serve'] as const)('%s: every request is answered to its end, each can be explained, and all are decided alike again', async (engine) => {
    const folder = temporaryFolder()
    const pool = await fleetIn(folder.path, { decode: 4, prefill: 4, encode: 0, rolesets: 4, engine, speed: SPEED })
    const configuration = join(folder.path, 'configuration.yaml')
    writeFileSync(configuration, configurationOf({ prefixCacheBlockSize: 128, prefixCacheStandardDeviationFactor: 2, prefillRequestTimeout: 60 }))
    const server = await serveIn(folder.path, { 'pd-execution': 'gateway' }, configuration)
    const played = await playTrace(readTrace(TRACE), { url: server.url, speed: SPEED, limit: LIMIT, offset: 0, concurrency: 1024, imageShare: 0, model: 'sim-model', maxOutput: Number.MAX_SAFE_INTEGER, salt: '', timeoutMs: 120_000 })
    expect(played).toMatchObject({ sent: LIMIT, completed: LIMIT, failed: 0, errors: [] })
    // Pairs stay within a roleset, so both of its sides served as many.
    expect(played.endpoints.prefill.map(({ requests }) => requests)).toEqual(played.endpoints.decode.map(({ requests }) => requests))
    const { headers } = await ask(server.url, chat('the last one'))
    // A client has its answer a moment before its end is told.
    await vi.waitFor(async () => {
      const { endpoints } = (await (await fetch(`${server.adminUrl}/endpoints`)).json()) as { endpoints: { requests: number }[] }
      expect(endpoints.map(({ requests }) => requests)).toEqual(new Array(8).fill(0))
    })
    await server.close()
    await pool.close()
    const explained = await run('explain', folder.path, headers.get('x-request-id') ?? '')
    expect(explained.out).toContain('pairs, the lowest final score wins')
    const replayed = await run('replay', folder.path)
    expect(replayed.out).toMatch(new RegExp(`${LIMIT + 1} decisions[^]*\\n0 divergences`))
    expect([explained.code, replayed.code]).toEqual([0, 0])
    folder.remove()
  })
})
