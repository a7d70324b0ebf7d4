import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { startEndpoint } from '../../../src/simulation/index.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'
import { serveIn, temporaryFolder } from '../../story/server.ts'
import { settled } from './known-blocks.ts'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const configuration = (renderUrl: string): string => `
apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
  - type: token-producer
    parameters: { modelName: sim-model, vllm: { url: ${renderUrl} } }
  - type: precise-prefix-cache-producer
    parameters: { tokenProcessorConfig: { blockSizeTokens: 16 }, speculativeIndexing: true }
  - type: prefix-cache-scorer
    parameters: { prefixMatchInfoProducerName: precise-prefix-cache-producer }
schedulingProfiles:
  - name: default
    plugins:
      - pluginRef: prefix-cache-scorer
`

const simulated = async (name: string): Promise<SimulatedEndpoint> => {
  const one = await startEndpoint({ name, speed: 200, kvEvents: { port: 0, replayPort: 0 } })
  closers.push(() => one.close())
  return one
}

const written = (endpoints: readonly SimulatedEndpoint[]): string => `endpoints:
${endpoints.map(({ name, address, port, kvEvents }) => `  - name: ${name}
    address: ${address}
    port: "${port}"
    labels: { "signalbox/kv-events-port": "${kvEvents?.port ?? 0}", "signalbox/kv-replay-port": "${kvEvents?.replayPort ?? 0}" }`).join('\n')}
`

/** A server that goes by the precise producer alone, in front of two simulated endpoints. */
const given = async () => {
  const folder = temporaryFolder()
  closers.push(() => folder.remove())
  const endpoints = [await simulated('a'), await simulated('b')]
  writeFileSync(join(folder.path, 'endpoints.yaml'), written(endpoints))
  writeFileSync(join(folder.path, 'epp.yaml'), configuration(endpoints[0]?.url ?? ''))
  const start = async (): Promise<Awaited<ReturnType<typeof serveIn>>> => {
    const serving = await serveIn(folder.path, {}, join(folder.path, 'epp.yaml'))
    closers.push(() => serving.close())
    return serving
  }
  return { folder: folder.path, endpoints, start }
}

const ask = async (url: string, content: string): Promise<number> => {
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', max_tokens: 1, messages: [{ role: 'user', content }] }) })
  const { usage } = (await response.json()) as { usage: { prompt_tokens_details: { cached_tokens: number } } }
  return usage.prompt_tokens_details.cached_tokens
}

const conversation = (name: string, turns: number): string => Array.from({ length: turns }, (_, turn) => `${name} says for the ${turn}th time what nobody may read. `.repeat(8)).join('')

// Three servers with their journals and followers: seconds on a machine that does other things too.
describe('a server with the precise producer', { timeout: 60_000 }, () => {
  it('given conversations that go on, when routed by their tokens and KV events, then each stays where its blocks are, and no prompt is in the journal', async () => {
    const { folder, endpoints, start } = await given()
    const server = await start()
    let cached = 0
    for (let turns = 1; turns <= 3; turns++) {
      for (const name of ['anna', 'bert', 'carl']) {
        await settled(server, endpoints)
        const hit = await ask(server.url, conversation(name, turns))
        const tokens = Math.floor(conversation(name, turns - 1).length / 4)
        // All that was sent before, but for the block that was not full.
        expect(hit).toBeGreaterThanOrEqual(Math.max(0, 16 * Math.floor(tokens / 16)))
        cached += hit
      }
    }
    expect(cached).toBe(endpoints.reduce((sum, endpoint) => sum + endpoint.state().cacheHits, 0))
    await settled(server, endpoints)
    const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
    expect(metrics).toContain('\nllm_d_epp_kv_cache_events_active_subscribers 2\n')
    const shown = (name: string): readonly number[] => endpoints.map(({ port }) => Number(metrics.split(`${name}{pod_identifier="127.0.0.1:${port}"} `)[1]?.split('\n')[0] ?? NaN))
    expect(shown('llm_d_epp_kv_cache_events_messages_received_total').reduce((sum, messages) => sum + messages, 0)).toBeGreaterThan(0)
    expect(shown('llm_d_epp_kv_cache_events_subscriber_reconnections_total')).toEqual([0, 0])
    expect(metrics).toMatch(/\nllm_d_epp_kv_cache_events_pool_queue_depth 0\n[^]*\nllm_d_epp_kv_cache_events_pool_capacity 1024\n/)
    expect(metrics).not.toMatch(/^llm_d_epp_kv_cache_events_(?:zmq_errors|stores_skipped|removals_skipped)_total\{/m)
    await server.close()
    expect(server.lines.filter((line) => line.includes('KV events'))).toEqual([])
    for (const name of readdirSync(folder).filter((file) => file.startsWith('journal'))) {
      expect(readFileSync(join(folder, name)).includes('what nobody may read')).toBe(false)
      // Four bytes of the prompt are one token here, so token ids would show as text too.
      expect(readFileSync(join(folder, name)).includes('nobody')).toBe(false)
    }
  })

  it('given a server that comes back, when it follows the engines anew, then it knows just what they hold', async () => {
    const { endpoints, start } = await given()
    const first = await start()
    for (const name of ['anna', 'bert', 'carl']) await ask(first.url, conversation(name, 3))
    await settled(first, endpoints)
    await first.close()
    const second = await start()
    await settled(second, endpoints)
    expect(await ask(second.url, conversation('bert', 3))).toBeGreaterThan(0)
  })

  it('given a renderer that is away, when a request comes, then it is routed without its tokens', async () => {
    const { endpoints, start } = await given()
    const server = await start()
    await endpoints[0]?.close()
    expect(await ask(server.url, conversation('anna', 1))).toBe(0)
  })
})
