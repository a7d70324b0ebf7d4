/**
 * What one scrape costs: an exposition of vLLM, some 300 lines, fetched over a loopback socket from another process, parsed
 * and extracted. `node test/bench/telemetry/scrape.ts [endpoints] [seconds]` prints µs of this process's CPU.
 */

import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { familiesOf, MetricsScraper, parseExposition } from '../../../src/adapters/metrics-scrape/index.ts'
import { coreMetricsExtractor } from '../../../src/plugins/extractor/core-metrics-extractor/index.ts'
import type { CoreMetricsExtractor } from '../../../src/plugins/extractor/core-metrics-extractor/index.ts'
import { metricsDataSource } from '../../../src/plugins/source/metrics-data-source/index.ts'
import type { MetricsDataSource } from '../../../src/plugins/source/metrics-data-source/index.ts'
import { microseconds, report } from '../harness.ts'
import { vllmExposition } from '../../unit/adapters/metrics-scrape/vllm-exposition.ts'

const PARSED = 2000

const text = vllmExposition()

const serve = (): void => {
  const server = createServer((_request, response) => response.end(text))
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.on('disconnect', () => process.exit())
}

const plugin = (name: string) => ({ name, parameters: undefined, plugin: () => undefined, warn: () => undefined })

const parsing = (extractor: CoreMetricsExtractor): number => {
  const bytes = new TextEncoder().encode(text)
  const wanted = familiesOf(extractor.mappingFor(new Map()))
  return microseconds(PARSED, () => extractor.extract(parseExposition(bytes, wanted).families, new Map()))
}

const scraping = async (extractor: CoreMetricsExtractor, endpoints: number, seconds: number): Promise<{ readonly reports: number; readonly micros: number }> => {
  const server = fork(fileURLToPath(import.meta.url), ['serve'])
  const port = await new Promise<number>((resolve) => server.once('message', (message) => resolve(message as number)))
  let reports = 0
  const scraper = new MetricsScraper({
    source: metricsDataSource.create(plugin('metrics-data-source')) as MetricsDataSource,
    extractor,
    report: () => (reports += 1),
    observe: () => undefined,
  })
  for (let index = 0; index < endpoints; index += 1) scraper.watch({ id: String(index), url: `http://127.0.0.1:${port}/metrics`, labels: new Map() })
  const run = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  await run(1000)
  reports = 0
  const begun = process.cpuUsage()
  await run(seconds * 1000)
  const { user, system } = process.cpuUsage(begun)
  const measured = { reports, micros: (user + system) / reports }
  await scraper.close()
  server.kill()
  return measured
}

if (process.argv[2] === 'serve') serve()
else {
  const endpoints = Number(process.argv[2] ?? 50)
  const seconds = Number(process.argv[3] ?? 5)
  const extractor = coreMetricsExtractor.create(plugin('core-metrics-extractor')) as CoreMetricsExtractor
  const parsed = parsing(extractor)
  const { reports, micros } = await scraping(extractor, endpoints, seconds)
  report(`Scraping: an exposition of ${text.length} bytes in ${text.split('\n').length - 1} lines`, [
    { name: 'parse and extract', value: parsed, unit: 'µs' },
    { name: 'whole scrape', value: micros, unit: 'µs of CPU' },
    { name: `asked, ${endpoints} endpoints`, value: reports / seconds / endpoints, unit: 'times a second' },
  ])
}
