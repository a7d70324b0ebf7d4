import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Pool } from '../../../src/simulation/index.ts'
import { fleetIn, serveIn, temporaryFolder } from '../../story/server.ts'

const CONFIGURATION = `
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- {type: session-affinity-filter, name: by-token}
- {type: session-affinity-filter, name: by-session, parameters: {strategy: session_id, sessionIdConfig: {sources: [{header: x-talk}]}}}
- {type: random-picker}
schedulingProfiles:
- {name: default, plugins: [{pluginRef: by-token}, {pluginRef: by-session}, {pluginRef: random-picker}]}
`

describe('a server whose plugins read headers of their own', () => {
  const folder = temporaryFolder()
  let pool: Pool
  let server: Awaited<ReturnType<typeof serveIn>>
  beforeAll(async () => {
    pool = await fleetIn(folder.path, { decode: 8, prefill: 0, encode: 0 })
    writeFileSync(join(folder.path, 'sessions.yaml'), CONFIGURATION)
    server = await serveIn(folder.path, { seed: '1' }, join(folder.path, 'sessions.yaml'))
  })
  afterAll(async () => {
    await server.close()
    await pool.close()
    folder.remove()
  })

  const ask = async (headers: Readonly<Record<string, string>>): Promise<{ endpoint: string | null; token: string | null }> => {
    const response = await fetch(`${server.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'sim-model', max_tokens: 1, prompt: 'Hello' }),
    })
    await response.text()
    return { endpoint: response.headers.get('x-signalbox-decode-endpoint'), token: response.headers.get('x-session-token') }
  }
  const endpointsOf = async (times: number, headers: Readonly<Record<string, string>>): Promise<Set<string | null>> => {
    const seen = new Set<string | null>()
    for (let time = 0; time < times; time += 1) seen.add((await ask(headers)).endpoint)
    return seen
  }

  it('spreads requests that name no session', async () => {
    expect((await endpointsOf(12, {})).size).toBeGreaterThan(1)
  })

  it('keeps a session that a header names on its endpoint', async () => {
    expect((await endpointsOf(12, { 'x-talk': 'about-quinces' })).size).toBe(1)
  })

  it('gives a client a token, and follows the one that it sends back', async () => {
    const first = await ask({})
    expect(first.token).not.toBeNull()
    expect(await endpointsOf(12, { 'x-session-token': first.token ?? '' })).toEqual(new Set([first.endpoint]))
  })
})
