import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { MetricsScraper } from '../../../src/adapters/metrics-scrape/index.ts'
import type { ScrapeProblem, ScraperOptions, ScrapeTarget } from '../../../src/adapters/metrics-scrape/index.ts'
import type { Observation, PluginContext } from '../../../src/core/contract.ts'
import type { Metrics } from '../../../src/core/endpoint.ts'
import { SignalboxError } from '../../../src/core/errors.ts'
import { coreMetricsExtractor } from '../../../src/plugins/extractor/core-metrics-extractor/index.ts'
import type { CoreMetricsExtractor } from '../../../src/plugins/extractor/core-metrics-extractor/index.ts'
import { metricsDataSource } from '../../../src/plugins/source/metrics-data-source/index.ts'
import type { MetricsDataSource } from '../../../src/plugins/source/metrics-data-source/index.ts'
import { vllmExposition } from '../../unit/adapters/metrics-scrape/vllm-exposition.ts'
import { CERTIFICATE, KEY } from './certificate.ts'
import { serveMetrics } from './metrics-server.ts'
import type { MetricsServer } from './metrics-server.ts'

const context = (name: string, parameters: unknown): PluginContext => ({ name, parameters, plugin: () => undefined, warn: () => undefined })

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Event {
  readonly id: string
  readonly fields?: Partial<Metrics>
  readonly problem?: ScrapeProblem | 'none'
  readonly message?: string
}

const serve = async (...[answer, tls]: Parameters<typeof serveMetrics>): Promise<MetricsServer> => {
  const server = await serveMetrics(answer, tls)
  closing.push(() => server.close())
  return server
}

const scrape = (options: Partial<ScraperOptions<ScrapeTarget>> = {}, parameters: unknown = undefined) => {
  const events: Event[] = []
  const observations: Observation[] = []
  const waiting: { readonly wanted: (event: Event) => boolean; readonly tell: (event: Event) => void }[] = []
  const happened = (event: Event): void => {
    events.push(event)
    for (const wait of [...waiting]) {
      if (!wait.wanted(event)) continue
      waiting.splice(waiting.indexOf(wait), 1)
      wait.tell(event)
    }
  }
  const scraper = new MetricsScraper({
    source: metricsDataSource.create(context('metrics-data-source', parameters)) as MetricsDataSource,
    extractor: coreMetricsExtractor.create(context('core-metrics-extractor', undefined)) as CoreMetricsExtractor,
    report: ({ id }, fields) => happened({ id, fields }),
    changed: ({ id }, problem, message) => happened({ id, problem: problem ?? 'none', message }),
    observe: (observation) => observations.push(observation),
    ...options,
  })
  closing.push(() => scraper.close())
  const next = (wanted: (event: Event) => boolean): Promise<Event> => new Promise((tell) => waiting.push({ wanted, tell }))
  const watch = (server: Pick<MetricsServer, 'url'>, id = 'a', labels: ReadonlyMap<string, string> = new Map()): void => scraper.watch({ id, url: server.url, labels })
  return { scraper, events, observations, next, watch }
}

const metrics = (response: { end(text: string): unknown }): void => void response.end(vllmExposition())
const countOf = (observations: readonly Observation[], name: string): number => observations.filter((each) => each.name === name).length

describe('a scrape', () => {
  it('reports what the endpoint says, again and again, over one connection', async () => {
    let waiting = 0
    const server = await serve((response) => response.end(vllmExposition({ waiting: waiting++ })))
    const { watch, next } = scrape()
    watch(server)
    const { fields } = await next((event) => event.fields?.waitingQueueSize === 3)
    expect(fields).toEqual({
      waitingQueueSize: 3,
      runningRequestsSize: 7,
      kvCacheUsage: 0.1234,
      activeModels: new Map([['sql-lora', 1], ['chat-lora', 1]]),
      waitingModels: new Map([['sql-lora', 1]]),
      maxActiveModels: 4,
      cacheBlockSize: 16,
      cacheNumBlocks: 27123,
    })
    expect(server.connections).toBe(1)
  })

  it('comes once an interval', async () => {
    const server = await serve(metrics)
    const { watch, next } = scrape({ intervalMs: 60 })
    watch(server)
    const times: number[] = []
    for (let index = 0; index < 6; index += 1) {
      await next((event) => event.fields !== undefined)
      times.push(performance.now())
    }
    expect((times[5] as number) - (times[0] as number)).toBeGreaterThan(5 * 60 - 30)
  })

  it('reads each endpoint in the names of its own engine', async () => {
    const server = await serve((response) => response.end('# TYPE sglang:num_queue_reqs gauge\nsglang:num_queue_reqs 5\n'))
    const { watch, next } = scrape()
    watch(server, 'a', new Map([['llm-d.ai/engine-type', 'sglang']]))
    expect((await next((event) => event.fields !== undefined)).fields).toEqual({ waitingQueueSize: 5 })
  })

  it('goes over TLS, without and with a look at the certificate', async () => {
    const server = await serve(metrics, { cert: CERTIFICATE, key: KEY })
    const folder = await mkdtemp(join(tmpdir(), 'signalbox-'))
    closing.push(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'ca.pem'), CERTIFICATE)
    for (const parameters of [{ scheme: 'https' }, { scheme: 'https', insecureSkipVerify: false, caCertPath: join(folder, 'ca.pem') }]) {
      const { watch, next } = scrape({}, parameters)
      watch(server)
      expect((await next((event) => event.fields !== undefined)).fields?.waitingQueueSize).toBe(3)
    }
    const { watch, next } = scrape({}, { scheme: 'https', insecureSkipVerify: false })
    watch(server)
    expect((await next((event) => event.problem !== undefined)).problem).toBe('connect')
  })

  it('says which certificate cannot be read', () => {
    expect(() => scrape({}, { scheme: 'https', caCertPath: '/nowhere/ca.pem' })).toThrow(SignalboxError)
    expect(() => scrape({}, { scheme: 'https', caCertPath: '/nowhere/ca.pem' })).toThrow(/caCertPath "\/nowhere\/ca.pem" cannot be read/)
  })
})

describe('a scrape that fails', () => {
  it.each<[ScrapeProblem, RegExp, Parameters<typeof serveMetrics>[0]]>([
    ['status', /answered 503/, (response) => response.writeHead(503).end('busy')],
    ['status', /answered 302/, (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['too-large', /more than 100000 bytes/, (response) => response.end('#'.repeat(100_001))],
    ['broken', /closed|socket|terminated|hang/i, (response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 1\n', () => response.destroy())
    }],
    ['timeout', /no answer within 150 ms/, () => undefined],
    ['timeout', /no answer within 150 ms/, (response) => response.write('# half')],
    ['exposition', /line 2: vllm:num_requests_waiting: "x" is not a number/, (response) => response.end('# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting x\n')],
    ['extract', /metric family "vllm:num_requests_running" not found/, (response) => response.end('# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 1\n')],
  ])('tells of it once and counts it: %s %s', async (problem, message, answer) => {
    const server = await serve(answer)
    const { watch, next, events, observations, scraper } = scrape({ timeoutMs: 150, responseBytesMax: 100_000 })
    watch(server)
    const told = await next((event) => event.problem !== undefined)
    expect(told.problem).toBe(problem)
    expect(told.message).toMatch(message)
    while (server.requests < 3) await new Promise((resolve) => setImmediate(resolve))
    expect(events.filter((event) => event.problem !== undefined)).toHaveLength(1)
    const name = problem === 'extract' ? 'datalayer_extract_errors_total' : 'datalayer_poll_errors_total'
    expect(countOf(observations, name)).toBeGreaterThan(0)
    expect(observations.find((each) => each.name === name)?.labels).toMatchObject({ source_type: 'metrics-data-source' })
    expect(scraper.counts.polling).toBeLessThanOrEqual(1)
  })

  it('is right again when the endpoint is, with the values that it then has', async () => {
    let isBusy = true
    const server = await serve((response) => (isBusy ? response.writeHead(500).end() : metrics(response)))
    const { watch, next } = scrape()
    watch(server)
    await next((event) => event.problem === 'status')
    isBusy = false
    await next((event) => event.problem === 'none')
    expect((await next((event) => event.fields !== undefined)).fields?.runningRequestsSize).toBe(7)
  })

  it('tells that nobody listens, and asks at the address that the endpoint moves to', async () => {
    const first = await serveMetrics(metrics)
    await first.close()
    const { watch, next, scraper } = scrape()
    watch(first)
    expect((await next((event) => event.problem !== undefined)).problem).toBe('connect')
    const second = await serve(metrics)
    watch(second)
    await next((event) => event.fields !== undefined)
    expect(scraper.counts.endpoints).toBe(1)
  })

  it('still reports the good lines of an exposition that is cut off', async () => {
    const server = await serve((response) => response.end('# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting 4\n# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1'))
    const { watch, next } = scrape()
    watch(server)
    expect((await next((event) => event.fields !== undefined)).fields).toEqual({ waitingQueueSize: 4 })
  })
})

describe('many endpoints', () => {
  it('never asks an endpoint while it still owes an answer', async () => {
    let now = 0
    let most = 0
    const server = await serve((response) => {
      now += 1
      most = Math.max(most, now)
      setTimeout(() => {
        now -= 1
        metrics(response)
      }, 130)
    })
    const { watch, next, scraper } = scrape()
    watch(server)
    for (let index = 0; index < 3; index += 1) await next((event) => event.fields !== undefined)
    expect(most).toBe(1)
    expect(scraper.counts.skipped).toBeGreaterThan(0)
  })

  it('asks those that answer whatever those do that hang', async () => {
    const hung = await serve(() => undefined)
    const well = await serve(metrics)
    const { watch, next, scraper } = scrape({ pollsMax: 4, timeoutMs: 120 })
    for (let index = 0; index < 8; index += 1) watch(hung, `hung-${index}`)
    watch(well, 'well')
    await next((event) => event.problem === 'timeout')
    for (let index = 0; index < 10; index += 1) await next((event) => event.id === 'well' && event.fields !== undefined)
    expect(scraper.counts.polling).toBeLessThanOrEqual(4)
    expect(scraper.counts.waiting).toBeGreaterThan(0)
  })

  it('comes back to where it was after 1,000 endpoints came and went', async () => {
    const server = await serve(metrics)
    const hung = await serve(() => undefined)
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const { scraper, next, watch, events } = scrape()
    for (let index = 0; index < 1000; index += 1) {
      watch(index % 10 === 9 ? hung : server, `endpoint-${index}`)
      if (index % 100 === 0) await next((event) => event.fields !== undefined)
      if (index >= 20) scraper.forget(`endpoint-${index - 20}`)
    }
    expect(scraper.counts.endpoints).toBe(20)
    for (let index = 980; index < 1000; index += 1) scraper.forget(`endpoint-${index}`)
    await Promise.all([server.allClosed(), hung.allClosed()])
    expect(scraper.counts).toMatchObject({ endpoints: 0, polling: 0, waiting: 0 })
    expect([server.open.size, hung.open.size]).toEqual([0, 0])
    expect(timers()).toBeLessThanOrEqual(before + 1)
    expect(events.some((event) => event.problem !== undefined)).toBe(false)
  })

  it('says nothing of an endpoint that was forgotten while it was asked', async () => {
    const got = Promise.withResolvers<{ end(text: string): unknown }>()
    const server = await serve((response) => got.resolve(response))
    const { watch, scraper, events, observations } = scrape()
    watch(server)
    const response = await got.promise
    scraper.forget('a')
    response.end(vllmExposition())
    await server.allClosed()
    expect(events).toEqual([])
    expect(observations).toEqual([])
    expect(scraper.counts.polling).toBe(0)
  })
})
