import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Prepared } from '../../../src/adapters/http/preparation.ts'
import { parsersOf, preparation, tokensOf } from '../../../src/app/preparation.ts'
import { TokenCounting } from '../../../src/app/token-counting.ts'
import { loadConfiguration } from '../../../src/config/load.ts'
import { pluginTypes } from '../../../src/plugins/index.ts'
import { startEndpoint } from '../../../src/simulation/index.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'
import type { Decision } from '../../../src/wire/decision.ts'
import type { AttributesReported } from '../../../src/wire/input.ts'
import type { RequestShape } from '../../../src/wire/request.ts'
import { received } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'
import { pdEndpoint } from '../aibrix/story.ts'

const PROMPT = 'Every train that passes the eastern gate is written down, with its hour and its load.'

/** AIBrix's router, where a model server counts the tokens of prompts. */
class LateTokens {
  readonly world: World
  private readonly counting: TokenCounting
  private readonly prepare: (content: string) => Prepared
  private told: (value: AttributesReported) => void = () => undefined

  constructor(url: string) {
    const text = `apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- type: token-producer
  parameters: { modelName: sim-model, vllm: { url: "${url}" } }
- type: aibrix-pd-profile-handler
schedulingProfiles:
- { name: prefill, plugins: [] }
- { name: decode, plugins: [] }
`
    this.world = new World(loadConfiguration({ texts: [{ file: 'c.yaml', text }], pluginTypes }).completed)
    for (const roleset of ['1', '2']) this.world.take(pdEndpoint(`p${roleset}`, 'prefill', roleset), pdEndpoint(`d${roleset}`, 'decode', roleset))
    const { engine } = this.world
    const { plugins } = engine.view.pipeline
    const tokens = tokensOf(plugins)
    const wanted = (): ReturnType<typeof engine.wanted> => engine.wanted()
    const desk = { produced: (request: number, producer: string, shape: RequestShape | undefined, error: string) => this.told({ request, producer, shape, error }) }
    const counting = TokenCounting.of({ tokens, desk, wanted, secret: undefined })
    if (counting === undefined) throw new Error('nobody counts')
    this.counting = counting
    const reader = preparation({ parsers: parsersOf(plugins), tokens, wanted, secret: undefined, counting })
    this.prepare = (content) => {
      const prepared = reader.prepare('/v1/chat/completions', new Map(), Buffer.from(JSON.stringify({ model: 'sim-model', messages: [{ role: 'user', content }] })))
      if (prepared.kind === 'refused') throw new Error(prepared.message)
      return prepared
    }
  }

  /** Takes a request, whose decision comes when its tokens are counted, or could not be. */
  async request(content: string): Promise<{ readonly shape: RequestShape | undefined; readonly decision: Decision | undefined }> {
    const { shape, count, api, model } = this.prepare(content)
    const { record } = this.world.step(received('r', { shape, api, model, targetModel: model }))
    expect(record.decisions).toEqual([])
    const value = await new Promise<AttributesReported>((resolve) => {
      this.told = resolve
      count?.(record.position, new AbortController().signal)
    })
    const [decision] = this.world.step({ input: { kind: 'attributesReported', value } }).record.decisions
    return { shape: value.shape, decision }
  }

  close(): Promise<void> {
    return this.counting.close()
  }
}

const prefillOf = (decision: Decision | undefined): { readonly endpoint: string | undefined; readonly score: number | undefined } => {
  const pick = decision?.profiles.find(({ stage }) => stage === 'prefill')?.picks[0]
  return { endpoint: pick?.endpoint, score: pick?.score }
}

describe('a router that goes by the text, where the tokens come later', () => {
  let server: SimulatedEndpoint
  beforeAll(async () => {
    server = await startEndpoint({ speed: 1000 })
  })
  afterAll(() => server.close())

  it.each([
    ['are counted', (): string => server.url, true],
    ['cannot be counted', (): string => 'http://127.0.0.1:1', false],
  ] as const)('finds the prompt again when the tokens %s', async (_case, url, isCounted) => {
    const late = new LateTokens(url())
    const first = await late.request(PROMPT)
    expect(first.shape?.tokenized ?? false).toBe(isCounted)
    const { endpoint, score } = prefillOf(first.decision)
    expect(score).toBeGreaterThanOrEqual(10)
    const second = prefillOf((await late.request(`${PROMPT} And more.`)).decision)
    expect(second).toEqual({ endpoint, score: expect.any(Number) as number })
    expect(second.score).toBeLessThan(5)
    await late.close()
  })
})
