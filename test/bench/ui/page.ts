/**
 * The visualizer in Chromium: opening a journal of 100,000 records, seeking in it, and panning 1,000 lanes of 100,000 bars.
 *
 * node test/bench/ui/page.ts [RECORDS] [BARS]
 */
import { gzipSync } from 'node:zlib'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { openJournal } from '../../../src/app/reading.ts'
import { pageFolder } from '../../../src/app/ui/page-folder.ts'
import { servePage } from '../../../src/app/ui/page-server.ts'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import { emptyJournalBase, openBase } from '../../../src/journal/state-message.ts'
import { sliceFile } from '../../../src/replay/exports/slice.ts'
import { singleProfile } from '../../story/configuration.ts'
import { ended, joined, prompt, received, sent, started, telemetry } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'
import { launchBrowser, visit } from '../../ui/browser.ts'

const RECORDS = Number(process.argv[2] ?? 100_000)
const BARS = Number(process.argv[3] ?? 100_000)
const LANES = 1000
const FRAMES = 120
const SEEKS = 20

/** Twenty endpoints and requests in flight all the time. */
const busy = (records: number): World => {
  const names = Array.from({ length: 20 }, (_, i) => `e${i}`)
  const world = new World(singleProfile()).take(...names.map((name) => joined(name)))
  const open: number[] = []
  for (let i = 0; world.records.length < records; i += 1) {
    if (i % 8 === 0) world.step(telemetry(names.map((_, slot) => ({ slot, waiting: (slot * 7 + i) % 9, kv: ((slot + i) % 50) / 50 }))), 20)
    open.push(world.request(received(`r${i}`, { shape: { tokenized: true, prompts: [prompt(512, [], i * 8)], problem: '' } })).key)
    world.step(sent(open.at(-1) ?? 0), 1)
    if (open.length > 60) world.take(started(open[40] ?? 0), ended(open.shift() ?? 0))
  }
  return world
}

/** A thousand endpoints chosen by chance, so that making the journal takes less time than looking at it. */
const wide = (bars: number): World => {
  const configuration = singleProfile()
  const drawn: CompletedConfiguration = { ...configuration, producers: [], plugins: configuration.plugins.filter(({ type }) => !type.endsWith('-producer')), profiles: configuration.profiles.map((profile) => ({ ...profile, scorers: [] })) }
  const world = new World(drawn).take(...Array.from({ length: LANES }, (_, i) => joined(`e${i}`)))
  const open: number[] = []
  for (let i = 0; i < bars; i += 1) {
    open.push(world.request(received(`r${i}`, { shape: { tokenized: true, prompts: [], problem: '' } })).key)
    if (open.length > 3000) world.step(ended(open.shift() ?? 0), 1)
  }
  return world
}

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-ui-'))

interface Opened {
  readonly page: Page
  /** From the address to a page that shows every record, every request and every bar. */
  readonly shownMs: number
  /** From the address until all of it is decided again. */
  readonly decidedMs: number
  close(): Promise<void>
}

const opened = async (browser: Browser, name: string, world: World): Promise<Opened> => {
  const base = openBase(emptyJournalBase().bytes)
  if (base === undefined) throw new Error('the base cannot be read')
  const file = join(folder, name)
  writeFileSync(file, sliceFile(base, world.records))
  const reader = openJournal(file)
  const server = await servePage({ host: '127.0.0.1', port: 0 }, name, reader, false)
  const begun = performance.now()
  const { page } = await visit(browser, `http://127.0.0.1:${server.address.port}/`)
  await page.waitForSelector('canvas[data-bars]:not([data-bars="0"])')
  const shownMs = performance.now() - begun
  await page.waitForSelector('[role=progressbar]', { state: 'detached' })
  return {
    page, shownMs, decidedMs: performance.now() - begun,
    close: async () => {
      await page.close()
      await server.close()
      reader.close()
    },
  }
}

const SEEK = `(async () => {
  const input = document.querySelector('input[type=range]')
  const times = []
  for (let i = 0; i < ${SEEKS}; i += 1) {
    const position = 1 + Math.floor(((i * 7919) % ${SEEKS}) / ${SEEKS} * (input.max - 1))
    const begun = performance.now()
    input.value = position
    input.dispatchEvent(new Event('input', { bubbles: true }))
    await new Promise((resolve) => { const look = () => document.querySelector('.detail .quiet')?.textContent.startsWith('position ' + position + ',') ? resolve() : setTimeout(look, 1); look() })
    times.push(performance.now() - begun)
  }
  return times
})()`

const PAN = `(async () => {
  const canvas = document.querySelector('canvas')
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  for (let i = 0; i < 6; i += 1) canvas.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, bubbles: true, cancelable: true }))
  await frame()
  const times = []
  let last = performance.now()
  for (let i = 0; i < ${FRAMES}; i += 1) {
    canvas.dispatchEvent(new WheelEvent('wheel', i % 3 === 0 ? { deltaY: i % 2 === 0 ? 40 : -40, cancelable: true } : { deltaX: i < ${FRAMES / 2} ? 12 : -12, cancelable: true }))
    await frame()
    times.push(performance.now() - last)
    last = performance.now()
  }
  return { times, bars: canvas.dataset.bars }
})()`

const quantile = (values: readonly number[], share: number): number => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN
const say = (what: string, value: string, goal: string): boolean => process.stdout.write(`${what.padEnd(44)} ${value.padStart(12)}${goal === '' ? '' : `   goal ${goal}`}\n`)

const page = await pageFolder()
const assets = join(page, 'assets')
const script = readdirSync(assets).filter((name) => name.endsWith('.js')).reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0)
say('script, compressed', `${Math.round(script / 1000)} kB`, '250 kB')
const browser = await launchBrowser()
try {
  const long = await opened(browser, 'long.sbj', busy(RECORDS))
  say(`open ${RECORDS} records: all shown`, `${Math.round(long.shownMs)} ms`, '2000 ms')
  say('and all decided again', `${Math.round(long.decidedMs)} ms`, '')
  await long.page.keyboard.press('4')
  await long.page.waitForSelector('.detail .quiet')
  const seeks = (await long.page.evaluate(SEEK)) as number[]
  say('seek, median', `${quantile(seeks, 0.5).toFixed(1)} ms`, '50 ms')
  say('seek, slowest', `${quantile(seeks, 1).toFixed(1)} ms`, '50 ms')
  await long.close()
  const broad = await opened(browser, 'wide.sbj', wide(BARS))
  await broad.page.click('text=All lanes')
  const { times, bars } = (await broad.page.evaluate(PAN)) as { times: number[]; bars: string }
  say(`frame of ${LANES} lanes, ${bars} bars seen, median`, `${quantile(times, 0.5).toFixed(1)} ms`, '20 ms')
  say('frame, 95 of 100', `${quantile(times, 0.95).toFixed(1)} ms`, '20 ms')
  await broad.close()
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
