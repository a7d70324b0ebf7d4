import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { playTrace, readTrace } from '../../src/simulation/index.ts'
import type { Pool } from '../../src/simulation/index.ts'
import { fleetIn, serveIn, temporaryFolder } from '../story/server.ts'
import { launchBrowser, visit } from './browser.ts'
import { POSITION, until } from './waiting.ts'

const TRACE = fileURLToPath(new URL('../data/traces/mooncake-conversation.jsonl', import.meta.url))
const REQUESTS = 12
const minute = 60_000

/** The short one of the tests in a browser: it runs every time. */
describe('the visualizer by keyboard', () => {
  const folder = temporaryFolder()
  let pool: Pool
  let server: Awaited<ReturnType<typeof serveIn>>
  let browser: Browser

  beforeAll(async () => {
    pool = await fleetIn(folder.path)
    ;[server, browser] = await Promise.all([serveIn(folder.path), launchBrowser()])
    await playTrace(readTrace(TRACE, 'mooncake'), { url: server.url, speed: 1000, concurrency: 4, offset: 0, limit: REQUESTS, timeoutMs: minute, model: 'sim-model', imageShare: 0, maxOutput: 4, salt: '' })
  }, minute)

  afterAll(async () => {
    await browser.close()
    await server.close()
    await pool.close()
    folder.remove()
  }, minute)

  it('leads through all views of a running engine', async () => {
    const { page, problems, elsewhere } = await visit(browser, `${server.adminUrl}/ui`)
    const press = (...keys: readonly string[]): Promise<void> => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())
    await page.waitForSelector('[role=progressbar]', { state: 'detached' })
    await until(page, `+one('canvas').dataset.bars >= ${REQUESTS}`)

    await press(' ', 'Home', 'n')
    await page.waitForSelector('aside .sentence >> text=/^decode on decode-/')

    await press('3')
    await page.waitForSelector('.state.active[data-state=scheduled]')
    await press('.')
    await page.waitForSelector('.state.active[data-state=dispatched]')

    await press('4', ',')
    await page.waitForSelector('[aria-current=true] >> text=request received')
    await until(page, `one('.detail h2').textContent === 'request received'`)

    await press('2', 'Escape')
    await until(page, `document.querySelectorAll('.requests tbody tr').length === ${REQUESTS}`)

    await press('5')
    await until(page, "one('.fork textarea').value !== ''")
    await page.focus('.fork button.main')
    await press('Enter')
    await page.waitForSelector(`text=0 of ${REQUESTS} decisions change`)

    await page.evaluate('document.activeElement.blur()')
    await press('?')
    await page.waitForSelector('[role=dialog]')
    await press('Escape', '1', 'End')
    expect(Number(await page.inputValue(POSITION))).toBeGreaterThan(4 * REQUESTS)
    expect([problems, elsewhere]).toEqual([[], []])
  }, minute)
})
