import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seriousFaults } from './axe.ts'
import { launchBrowser, visit } from './browser.ts'
import type { Visit } from './browser.ts'
import { startEngine } from './engine.ts'
import type { StartedEngine } from './engine.ts'
import { POSITION, until } from './waiting.ts'

const minutes = 60_000

describe('the visualizer of a running engine', { timeout: minutes }, () => {
  let engine: StartedEngine
  let browser: Browser
  let seen: Visit
  let page: Page

  beforeAll(async () => {
    ;[engine, browser] = await Promise.all([startEngine(), launchBrowser()])
    await engine.play(40, 40)
    seen = await visit(browser, `${engine.admin}/ui`)
    page = seen.page
  }, 3 * minutes)

  afterAll(async () => {
    await browser.close()
    await engine.stop()
  })

  const position = async (): Promise<number> => Number(await page.inputValue(POSITION))

  it('is served with a strict policy, and to this machine', async () => {
    const answer = await fetch(`${engine.admin}/ui`)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';")
    expect(await answer.text()).not.toMatch(/<script(?![^>]*\bsrc=)/)
    expect((await fetch(`${engine.admin}/ui/../../package.json`)).status).toBe(404)
    expect((await fetch(`${engine.admin}/ui/api/after?position=x`)).status).toBe(409)
    expect((await fetch(`${engine.admin}/ui/api/journal`, { method: 'POST' })).status).toBe(405)
  })

  it('follows the journal, pauses, and goes on without having lost a record', async () => {
    const first = await position()
    await until(page, `+one('${POSITION}').value > ${first}`)
    await page.keyboard.press(' ')
    await page.waitForSelector('text=Paused')
    const paused = await position()
    await engine.play(10, 60)
    await until(page, `+one('${POSITION}').max > ${paused + 30}`)
    expect(await position()).toBe(paused)
    await page.keyboard.press(' ')
    await until(page, `+one('${POSITION}').value > ${paused}`)
    expect(await page.locator('[role=alert]').count()).toBe(0)
  })

  it('leads from a bad percentile to the receipt in three clicks', async () => {
    await page.click('role=tab[name=Requests]')
    await page.click('.histogram:first-child .percentiles button:last-child')
    await page.click('.requests tbody tr:first-child button')
    const sentence = await page.textContent('aside .sentence')
    expect(sentence).toMatch(/^decode on decode-\d: total .*(ahead of|best total)/)
    expect(await page.locator('aside tr.out').count()).toBeGreaterThan(0)
  })

  it('says what would have changed the pick', async () => {
    await page.click('text=What would have changed it?')
    await page.waitForSelector('text=Each value was tried')
    expect(await page.textContent('aside')).toMatch(/\d+ of \d+ weights and attributes change nothing/)
  })

  it('shows the attributes that it went by, and how old each was', async () => {
    await page.click('text=Attributes used, and how old each was')
    await page.waitForSelector('aside details table')
    expect(await page.textContent('aside details')).toMatch(/waitingQueueSize.* (µs|ms|s).*PrefixCacheMatchInfo.*matchBlocks.*made for it/s)
  })

  it('draws the fleet with one call, and a bar leads to its request', async () => {
    await page.keyboard.press('Escape')
    await page.keyboard.press('1')
    await until(page, "+one('canvas').dataset.bars > 40")
    expect(await page.getAttribute('canvas', 'data-calls')).toBe('1')
    const box = await page.locator('canvas').boundingBox()
    if (box === null) throw new Error('no canvas')
    await page.mouse.move(box.x + box.width / 2, box.y + 10)
    await page.mouse.wheel(0, -1200)
    await until(page, "location.hash.includes('span')")
    await page.keyboard.press('f')
    await until(page, "!location.hash.includes('span')")
  })

  it('lights the machine of the chosen request, step by step, by keyboard', async () => {
    await page.keyboard.press('Home')
    await page.keyboard.press('n')
    await page.keyboard.press('3')
    await page.waitForSelector('.state.active[data-state=scheduled]')
    expect(await page.locator('.edge.taken').count()).toBeGreaterThan(5)
    await page.waitForSelector('text=scheduled.sentTimeout')
    await page.keyboard.press('.')
    await page.waitForSelector('.state.active[data-state=dispatched]')
    await page.keyboard.press(',')
    await page.waitForSelector('.state.active[data-state=scheduled]')
    await page.click('role=button[name=endpoint]')
    await page.waitForSelector('.state.active[data-state="presence.ready"]')
  })

  it('finds the record that last wrote a value', async () => {
    await page.keyboard.press('4')
    await page.keyboard.press('End')
    const last = await position()
    await page.click('.detail table tbody tr:first-child td:nth-child(2) button')
    await until(page, `+one('${POSITION}').value < ${last}`)
    expect(await position()).toBeGreaterThan(0)
  })

  it('opens a link at its place', async () => {
    const linked = await visit(browser, `${engine.admin}/ui#/records?at=12`)
    await linked.page.waitForSelector('[aria-current=true] >> text=12')
    expect(linked.problems).toEqual([])
    await linked.page.close()
  })

  it('forks under another configuration', async () => {
    await page.keyboard.press('5')
    const text = page.locator('textarea')
    await until(page, `one('textarea').value.includes('"weight"')`)
    await text.fill((await text.inputValue()).replaceAll(/"weight": [12]\b/g, '"weight": 0'))
    await page.click('text=Decide again')
    await page.waitForSelector('text=/\\d+ of \\d+ decisions change/')
    await page.click('.fork td button[aria-expanded]')
    await page.waitForSelector('.beside section >> nth=1')
    expect(await page.locator('.beside section').count()).toBe(2)
    expect(await page.locator('.forkcharts svg').count()).toBe(3)
    await text.fill('kind: EndpointPickerConfig\nplugins: [{ type: no-such-scorer }]\n')
    await page.click('text=Decide again')
    await page.waitForSelector('[role=alert] >> text=no-such-scorer')
  })

  it.each([['light', '12345'], ['dark', '24']] as const)('has no serious fault of accessibility, %s', async (colorScheme, keys) => {
    await page.emulateMedia({ colorScheme })
    for (const key of keys) {
      await page.evaluate('document.activeElement?.blur()')
      await page.keyboard.press(key)
      await page.waitForSelector(`[role=tab]:nth-child(${key})[aria-selected=true]`)
      expect(await seriousFaults(page), `view ${key}`).toEqual([])
    }
  })

  it('asked for nothing from elsewhere, and nothing went wrong', () => {
    expect(seen.elsewhere).toEqual([])
    expect(seen.problems).toEqual([])
  })
})
