import { describe, expect, it } from 'vitest'
import { withEndpointsFile } from '../../../src/app/endpoints-option.ts'
import { endpointRows, liveSources, pluginStates } from '../../../src/app/views.ts'
import type { EngineHost } from '../../../src/app/host.ts'
import type { Scraping } from '../../../src/app/scraping.ts'
import { disaggregated } from '../../story/configuration.ts'
import { draining, joined, prompt, received, telemetry } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'

const world = (): World => new World(disaggregated(16))
  .take(joined('a', 'decode'), joined('p', 'prefill'), joined('idle', 'encode'), telemetry([{ slot: 0, waiting: 3, kv: 0.5 }]), draining('idle'))

describe('what an engine shows', () => {
  it('of its endpoints: where they are, how they are, what is in flight, how old their metrics are', () => {
    const made = world().take(received('r', { shape: { tokenized: true, prompts: [prompt(4096)], problem: '' } }))
    const rows = endpointRows(made.engine) as readonly Readonly<Record<string, unknown>>[]
    expect(rows).toMatchObject([
      { id: 'default/a', address: '10.0.0.1:8000', role: 'decode', requests: 1, waiting: 3, kvCacheUsage: 0.5, ageMs: 2 },
      { id: 'default/idle', role: 'encode', requests: 0, ageMs: null },
      { id: 'default/p', role: 'prefill', requests: 1 },
    ])
    expect(rows[0]?.['state']).toContain('ready')
    expect(rows[1]?.['state']).toContain('draining')
  })

  it('of what is in flight: every endpoint, by stage', () => {
    const made = world().take(received('r', { shape: { tokenized: true, prompts: [prompt(4096)], problem: '' } }), joined('a b', 'decode'))
    const host = { actor: { engine: made.engine, depth: 0 } } as unknown as EngineHost
    const sources = liveSources(host, {} as Scraping, 'pool')
    const shown = [...(sources.inFlight?.() ?? [])]
    expect(shown.filter(({ requests }) => requests > 0)).toEqual([
      { endpoint: 'default/a', stage: 'decode', requests: 1 }, { endpoint: 'default/p', stage: 'prefill', requests: 1 },
    ])
    // Each has a series for each stage, so that none ends when its last request does.
    expect(new Set(shown.map(({ endpoint, stage }) => `${endpoint} ${stage}`)).size).toBe(shown.length)
    expect(shown.length).toBe(4 * new Set(shown.map(({ stage }) => stage)).size)
    expect(sources.liveRequests?.()).toBe(1)
  })

  it('of its plugins: those that say something, also beside one that cannot', () => {
    const { engine } = world()
    const broken = engine.view.pipeline.plugins[0]
    if (broken !== undefined) broken.dump = () => { throw new Error('it cannot say') }
    const states = pluginStates(engine)
    expect(states.length).toBe(engine.view.pipeline.plugins.length)
    expect(states[0]?.state).toEqual({ error: 'Error: it cannot say' })
  })
})

describe('--endpoints', () => {
  it('adds a file to a configuration without a discovery, and is refused beside one', () => {
    const added = withEndpointsFile(disaggregated(16), 'fleet.yaml')
    expect(added.plugins.at(-1)).toMatchObject({ type: 'file-discovery', parameters: { path: 'fleet.yaml', watchFile: true } })
    expect(added.dataLayer.discovery).toBe('file-discovery')
    expect(() => withEndpointsFile(added, 'other.yaml')).toThrow(/names its own discovery/)
  })
})
