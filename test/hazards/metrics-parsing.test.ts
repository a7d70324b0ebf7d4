import { describe, expect, it } from 'vitest'
import { TelemetrySlots } from '../../src/actors/telemetry/index.ts'
import type { MetricsReport } from '../../src/actors/telemetry/index.ts'
import { MetricsScraper, parseExposition, WantedFamilies } from '../../src/adapters/metrics-scrape/index.ts'
import type { Exposition } from '../../src/adapters/metrics-scrape/index.ts'
import { createMetrics, normalisedSecondsPerToken, OTHER, secondsPerToken } from '../../src/adapters/prometheus/index.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import { coreMetricsExtractor } from '../../src/plugins/extractor/core-metrics-extractor/index.ts'
import type { CoreMetricsExtractor } from '../../src/plugins/extractor/core-metrics-extractor/index.ts'
import { metricsDataSource } from '../../src/plugins/source/metrics-data-source/index.ts'
import type { MetricsDataSource } from '../../src/plugins/source/metrics-data-source/index.ts'
import { emptyRequestReceived } from '../../src/wire/index.ts'
import { serveMetrics } from '../integration/metrics-scrape/metrics-server.ts'
import type { MetricsServer } from '../integration/metrics-scrape/metrics-server.ts'
import { singleProfile } from '../story/configuration.ts'
import { joined } from '../story/inputs.ts'
import { World } from '../story/world.ts'
import { make } from '../unit/plugins/given.ts'
import hazards from './cases/metrics-parsing.json' with { type: 'json' }

const parse = (text: string, ...wanted: readonly string[]): Exposition => parseExposition(new TextEncoder().encode(text), new WantedFamilies(wanted))

const series = ({ families }: Exposition, name: string): Record<string, number> =>
  Object.fromEntries((families.get(name)?.samples ?? []).map(({ labels, value }) => [[...labels.values()].join('/'), value]))

const extractor = (): CoreMetricsExtractor => make<CoreMetricsExtractor>(coreMetricsExtractor)

/** An engine with one endpoint, whose reports go through the slots as they do from a scrape. */
const reporting = (): { readonly world: World; report(report: MetricsReport): void; endpoint(): Endpoint } => {
  const world = new World(singleProfile()).take(joined('a'))
  const { fleet } = world.engine.view
  const slots = new TelemetrySlots((slot) => fleet.atSlot(slot)?.endpoint.life ?? 0)
  return {
    world,
    endpoint: () => fleet.get('default/a')?.endpoint as Endpoint,
    report: (report) => {
      slots.report(0, 1, report)
      const value = slots.tick()
      if (value !== undefined) world.step({ input: { kind: 'telemetryTick', value } })
    },
  }
}

interface Scraped {
  readonly scraper: MetricsScraper
  readonly events: string[]
  next(): Promise<string>
}

const scraping = (options: { readonly pollsMax?: number; readonly timeoutMs?: number } = {}): Scraped => {
  const events: string[] = []
  let waiting: ((event: string) => void)[] = []
  const happened = (event: string): void => {
    events.push(event)
    const told = waiting
    waiting = []
    for (const tell of told) tell(event)
  }
  const scraper = new MetricsScraper({
    source: make<MetricsDataSource>(metricsDataSource),
    extractor: extractor(),
    report: ({ id }) => happened(`report ${id}`),
    changed: ({ id }, problem) => happened(`${problem} ${id}`),
    observe: () => undefined,
    ...options,
  })
  return { scraper, events, next: () => new Promise((resolve) => waiting.push(resolve)) }
}

const VLLM = [
  ['vllm:num_requests_waiting', '1'],
  ['vllm:num_requests_running', '1'],
  ['vllm:kv_cache_usage_perc', '0.5'],
  ['vllm:cache_config_info', '1', '{block_size="16",num_gpu_blocks="100"}'],
].map(([name, value, labels = '']) => `# TYPE ${name} gauge\n${name}${labels} ${value}\n`).join('')

const target = (server: MetricsServer, id: string): { readonly id: string; readonly url: string; readonly labels: ReadonlyMap<string, string> } => ({ id, url: server.url, labels: new Map() })

const checks: Readonly<Record<string, () => void | Promise<void>>> = {
  'BUG-041': () => {
    const { world, report, endpoint } = reporting()
    report({ kvCacheUsage: 161_000 / 162_938 })
    for (const [sequence, blocks] of [2500, 1800, 2100].entries()) {
      const assigned = [{ request: sequence, attempt: 1, profile: 'default', endpoint: 'default/a', incarnation: '1', promptTokens: blocks, outputTokens: 0, blocks: [] }]
      world.step({ input: { kind: 'peerLoadReported', value: { replica: 'other', runId: 'r', sequence: sequence + 1, opens: false, assigned, released: [] } } })
    }
    expect(endpoint().kvCacheUsage).toBeCloseTo(0.988, 3)
    expect(endpoint().kvCacheUsage).toBeGreaterThan(0.6)
  },
  'BUG-047': async () => {
    const server = await serveMetrics((response) => response.end(VLLM))
    const { scraper, next } = scraping()
    scraper.watch(target(server, 'e'))
    await next()
    for (let index = 0; index < 20; index += 1) {
      scraper.forget('e')
      scraper.watch(target(server, 'e'))
    }
    expect(await next()).toBe('report e')
    expect(scraper.counts.endpoints).toBe(1)
    await scraper.close()
    await server.close()
  },
  'BUG-055': async () => {
    const hung = await serveMetrics(() => undefined)
    const { scraper, next } = scraping({ pollsMax: 2, timeoutMs: 300 })
    for (let index = 0; index < 5; index += 1) scraper.watch(target(hung, `pod-${index}`))
    await next()
    expect(scraper.counts.polling).toBeLessThanOrEqual(2)
    expect(scraper.counts.polling + scraper.counts.waiting).toBe(5)
    expect(scraper.counts.skipped).toBeGreaterThanOrEqual(3)
    const well = await serveMetrics((response) => response.end(VLLM))
    scraper.watch(target(well, 'well'))
    let event = await next()
    while (event !== 'report well') event = await next()
    await scraper.close()
    await Promise.all([hung.close(), well.close()])
  },
  'BUG-063': () => {
    const text = VLLM.replace('usage_perc 0.5', 'usage_perc NaN')
    const read = extractor().extract(parse(text, 'vllm:num_requests_waiting', 'vllm:num_requests_running', 'vllm:kv_cache_usage_perc').families, new Map())
    expect(read.fields).toEqual({ waitingQueueSize: 1, runningRequestsSize: 1 })
    const { report, endpoint } = reporting()
    report({ kvCacheUsage: 0.25 })
    report({ kvCacheUsage: NaN, waitingQueueSize: 2 })
    expect([endpoint().kvCacheUsage, endpoint().waitingQueueSize]).toEqual([0.25, 2])
  },
  'BUG-070': () => {
    const read = parse(
      [
        'running{model_name="a"} 3', 'running{model_name="b"} 5', 'running{model_name="c"} three', 'waiting{model_name="a"} 1', 'waiting{model_name="b"} 7',
        'success{finished_reason="stop"} 8', 'success{finished_reason="length"} 4', '',
      ].join('\n'),
      'running', 'waiting', 'success',
    )
    expect(series(read, 'running')).toEqual({ a: 3, b: 5 })
    expect(series(read, 'waiting')).toEqual({ a: 1, b: 7 })
    expect(Object.values(series(read, 'success')).reduce((sum, value) => sum + value, 0)).toBe(12)
    expect(read.faults).toEqual([{ line: 3, message: 'running: "three" is not a number' }])
  },
  'BUG-079': async () => {
    const metrics = createMetrics({ version: { commit: '', buildRef: '' }, configuredModels: ['configured'], ofProcess: false })
    const names = [...Array.from({ length: 1500 }, (_, index) => `model-${index}`), '', 'configured']
    names.forEach((model, index) => {
      const input = { kind: 'requestReceived', value: { ...emptyRequestReceived(), model } } as const
      const routed = { kind: 'routed', request: index, attempt: 1, targetModel: model, endpoint: { id: 'default/a', hostPort: '10.0.0.1:80' } } as const
      metrics.turn({ record: { position: index, atUs: index, input: { input }, decisions: [] }, effects: [routed] }, 1)
    })
    const counts = new Map((await metrics.text()).split('\n').flatMap((line) => {
      const [, model, count] = /^llm_d_epp_request_total\{model_name="([^"]*)".* (\d+)$/.exec(line) ?? []
      return model === undefined ? [] : [[model, Number(count)] as const]
    }))
    expect(counts.size).toBe(1000 + 3)
    expect([counts.get(OTHER), counts.get(''), counts.get('configured'), counts.get('model-0'), counts.get('model-1000')]).toEqual([500, 1, 1, 1, undefined])
  },
  'BUG-080': () => {
    const times = { receivedAt: 0, firstAt: 500_000, endedAt: 1_500_000, streaming: true, outputTokens: 11 }
    expect(secondsPerToken(times)).toBeCloseTo(0.1, 12)
    for (const wrong of [
      { streaming: false, endedAt: 500_000 }, { streaming: false }, { outputTokens: 1 }, { outputTokens: 0 }, { firstAt: undefined }, { receivedAt: 600_000 }, { endedAt: 400_000 }, { endedAt: 500_000 },
    ]) expect(secondsPerToken({ ...times, ...wrong })).toBeUndefined()
    expect(normalisedSecondsPerToken({ ...times, outputTokens: 0 })).toBeUndefined()
  },
  'BUG-082': () => {
    const { world, report, endpoint } = reporting()
    report({ waitingQueueSize: 4, kvCacheUsage: 0.2 })
    const first = endpoint().heardAt
    world.pass(600_000)
    report({ runningRequestsSize: 1 })
    // One time for all metrics of an endpoint, as in llm-d: it is heard from when anything of it could be read.
    expect(endpoint().heardAt - first).toBeGreaterThanOrEqual(600_000_000)
    expect(endpoint()).toMatchObject({ waitingQueueSize: 4, kvCacheUsage: 0.2, runningRequestsSize: 1 })
    const second = endpoint().heardAt
    world.pass(600_000)
    report({ runningRequestsSize: NaN })
    expect(endpoint().heardAt).toBe(second)
    expect(endpoint().runningRequestsSize).toBe(1)
  },
  'BUG-269': async () => {
    const server = await serveMetrics((response) => response.end(VLLM))
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const { scraper, next } = scraping()
    for (let index = 0; index < 1000; index += 1) {
      scraper.watch(target(server, 'e'))
      if (index % 100 === 0) await next()
      scraper.forget('e')
    }
    await server.allClosed()
    expect(scraper.counts).toMatchObject({ endpoints: 0, polling: 0, waiting: 0 })
    expect(server.open.size).toBe(0)
    expect(timers()).toBeLessThanOrEqual(before + 1)
    await server.close()
  },
}

describe('metrics that are wrong, late, too many or gone', () => {
  it.each(hazards.cases)('$id: $symptom', async ({ id }) => {
    const check = checks[id]
    expect(check, `no check of ${id}`).toBeDefined()
    await check?.()
  })

  it('has a hazard for each check', () => expect(Object.keys(checks).sort()).toEqual(hazards.cases.map(({ id }) => id).sort()))
})
