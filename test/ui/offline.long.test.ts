import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emptyJournalBase, openBase } from '../../src/journal/state-message.ts'
import { sliceFile } from '../../src/replay/exports/slice.ts'
import type { Record as JournalRecord } from '../../src/wire/journal.ts'
import { mixed } from '../golden/stories.ts'
import { singleProfile } from '../story/configuration.ts'
import { ended, joined, received, telemetry } from '../story/inputs.ts'
import { World } from '../story/world.ts'
import { launchBrowser, visit } from './browser.ts'
import { command } from './engine.ts'
import type { Running } from './engine.ts'
import { POSITION, until } from './waiting.ts'

const minutes = 60_000
const HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

describe('the visualizer of a file', { timeout: minutes }, () => {
  let folder: string
  let browser: Browser
  const running: Running[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-viz-'))
    browser = await launchBrowser()
  }, minutes)

  afterAll(async () => {
    await browser.close()
    for (const each of running) await each.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const write = (name: string, records: readonly JournalRecord[]): string => {
    const base = openBase(emptyJournalBase().bytes)
    if (base === undefined) throw new Error('the base cannot be read')
    writeFileSync(join(folder, name), sliceFile(base, records))
    return join(folder, name)
  }

  const viz = async (file: string): Promise<string> => {
    const served = command(folder, 'viz', file, '--no-open')
    running.push(served)
    return (await served.said(/http:\S+/))[0]
  }

  it('shows it whole, without asking anybody else', async () => {
    const world = new World(singleProfile())
    world.request(received('nobody-there'))
    world.take(joined('a'))
    world.request(received('lost'))
    const { records } = world.pass(60_000)
    const { page, problems, elsewhere } = await visit(browser, await viz(write('lost.sbj', records)))
    expect(await page.getAttribute(POSITION, 'max')).toBe(String(records.length))
    expect(await page.locator('[role=alert]').count()).toBe(0)
    await page.keyboard.press('Home')
    await page.keyboard.press('4')
    await page.keyboard.press('r')
    await page.waitForSelector('.detail .sentence >> text=Not served')
    await page.keyboard.press('e')
    await page.waitForSelector('[aria-current=true] >> text=expired')
    expect([problems, elsewhere]).toEqual([[], []])
    await page.close()
  })

  it('gives a slice as a journal, and a machine as a diagram', async () => {
    const { page } = await visit(browser, await viz(write('slices.sbj', mixed().records)))
    await page.keyboard.press('4')
    const [slice] = await Promise.all([page.waitForEvent('download'), page.click('text=Journal file')])
    expect(slice.suggestedFilename()).toMatch(/^slice-\d+-\d+\.sbj$/)
    await slice.saveAs(join(folder, 'slice.sbj'))
    const replay = command(folder, 'replay', join(folder, 'slice.sbj'))
    expect((await replay.said(/(\d+) divergences/))[1]).toBe('0')
    await replay.stop()
    for (const [button, name, holds] of [['vitest test', /^slice-\d+-\d+\.test\.ts$/, "from 'signalbox/replay'"], ['Stately Inspector events', /^inspection-\d+-\d+\.jsonl$/, '"type":"@xstate.actor"']] as const) {
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`text=${button}`)])
      expect(file.suggestedFilename()).toMatch(name)
      await file.saveAs(join(folder, 'exported'))
      expect(readFileSync(join(folder, 'exported'), 'utf8')).toContain(holds)
    }
    await page.keyboard.press('3')
    for (const [button, name] of [['Mermaid', 'request.mmd'], ['XState JSON', 'request.json'], ['SVG', 'request.svg']] as const) {
      const [file] = await Promise.all([page.waitForEvent('download'), page.click(`role=button[name="${button}"]`)])
      expect(file.suggestedFilename()).toBe(name)
    }
    await page.close()
  })

  it('opens a journal that now replays otherwise at the first difference', async () => {
    const records = mixed().records.map((record) => ({ ...record, decisions: record.decisions.map((decision) => (record.position < 200 ? decision : { ...decision, decisionType: 'changed' })) }))
    const first = records.find(({ position, decisions }) => position >= 200 && decisions.length > 0)?.position ?? 0
    const { page } = await visit(browser, await viz(write('changed.sbj', records)))
    await page.waitForSelector('text=The first difference')
    expect(await page.inputValue(POSITION)).toBe(String(first))
    expect(await page.textContent('.detail [role=alert]')).toMatch(/code now says.*decisions\.0\.decisionType"changed""/s)
    await page.close()
  })

  it('shows of a journal decided with plugins that are not here what was recorded, and says what to do', async () => {
    const records = mixed().records.map((record): JournalRecord => {
      const content = record.input?.input
      if (content?.kind !== 'engineStarted') return record
      const { configuration, plugins } = content.value
      return { ...record, input: { input: { kind: 'engineStarted', value: { ...content.value, configuration: configuration.replaceAll('queue-scorer', 'my-scorer'), plugins: [...plugins, { name: 'mine', type: 'my-scorer', contentHash: 'a' }] } } } }
    })
    const { page, problems } = await visit(browser, await viz(write('foreign.sbj', records)))
    await page.waitForSelector('.notice >> text=/plugins that the page does not have: my-scorer.*--plugins/')
    await until(page, "+one('canvas').dataset.bars > 100")
    await page.keyboard.press('Home')
    await page.keyboard.press('n')
    await page.waitForSelector('aside .sentence >> text=/^decode on /')
    await page.keyboard.press('4')
    await page.waitForSelector('.detail >> text=The engine as it stood here is not known')
    expect(problems).toEqual([])
    await page.close()
  })

  it('shows what came before the place where a file is damaged, and says so', async () => {
    const whole = write('whole.sbj', mixed().records)
    const bytes = readFileSync(whole)
    bytes[bytes.length - 2000] = (bytes[bytes.length - 2000] ?? 0) ^ 1
    writeFileSync(join(folder, 'damaged.sbj'), bytes)
    const { page } = await visit(browser, await viz(join(folder, 'damaged.sbj')))
    expect(await page.textContent('[role=alert]')).toMatch(/The journal is not whole: .*What was read up to position \d+ is shown/)
    await page.close()
  })

  it('opens a file that is dropped on it or chosen', async () => {
    const file = write('chosen.sbj', mixed().records.slice(0, 50))
    const url = await viz(write('first.sbj', mixed().records))
    const page = await browser.newPage()
    await page.route('**/api/**', (route) => route.abort())
    await page.goto(url)
    await page.setInputFiles('input[type=file]', file)
    await page.waitForSelector('.shell')
    expect(await page.getAttribute(POSITION, 'max')).toBe('50')
    await page.close()
  })

  it('shows what clients sent as text, whatever it is', async () => {
    const world = new World(singleProfile()).take(joined('a'), joined('b'))
    world.step(telemetry([{ slot: 0 }, { slot: 1 }]), 10)
    world.take(ended(world.request(received(HOSTILE, { model: HOSTILE })).key))
    const { page, problems } = await visit(browser, await viz(write('hostile.sbj', world.records)))
    const title = await page.title()
    await page.keyboard.press('2')
    await page.click('.requests tbody button')
    await until(page, `one('aside h2')?.textContent === ${JSON.stringify(HOSTILE)}`)
    for (const key of ['1', '3', '4']) await page.keyboard.press(key)
    await until(page, "one('.records') !== null")
    expect([await page.title(), problems]).toEqual([title, []])
    await page.close()
  })

  it.each([[1280, 4], [2560, 500]])('shows the fleet at %d pixels with %d endpoints', async (width, endpoints) => {
    const names = Array.from({ length: endpoints }, (_, i) => `e${i}`)
    const world = new World(singleProfile()).take(...names.map((name) => joined(name)))
    for (let i = 0; i < 60; i += 1) {
      if (i % 10 === 0) world.step(telemetry(names.map((_, slot) => ({ slot, waiting: (slot * 7 + i) % 9, kv: ((slot + i) % 50) / 50 }))), 50)
      world.request(received(`r${i}`))
    }
    const { page, problems } = await visit(browser, await viz(write(`fleet-${endpoints}.sbj`, world.records)), { viewport: { width, height: 1000 } })
    await until(page, "+one('canvas').dataset.bars > 0")
    await page.click('text=All lanes')
    await until(page, "+one('canvas').dataset.bars === 60")
    expect(await page.getAttribute('canvas', 'data-calls')).toBe('1')
    expect(await page.textContent('.corner')).toBe(`${endpoints} endpoints`)
    expect(problems).toEqual([])
    await page.close()
  })
})
