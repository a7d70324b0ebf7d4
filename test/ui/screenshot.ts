// Usage: node test/ui/screenshot.ts [FILE]: makes the picture at the top of the README, on a real engine that a real trace is played to.
import { fileURLToPath } from 'node:url'
import { launchBrowser, visit } from './browser.ts'
import { startEngine } from './engine.ts'

const PICTURE = fileURLToPath(new URL('../../src/visualizer/screenshot.png', import.meta.url))
const REQUESTS = 150

const engine = await startEngine()
try {
  await engine.play(REQUESTS, 6)
  const browser = await launchBrowser()
  try {
    const { page } = await visit(browser, `${engine.admin}/ui`, { viewport: { width: 1440, height: 860 }, colorScheme: 'light' })
    await page.waitForSelector('[role=progressbar]', { state: 'detached' })
    await page.keyboard.press(' ')
    await page.keyboard.press('Home')
    // A slow request, at the moment of its decision: its receipt is the page's point.
    for (let i = 0; i < 8; i += 1) await page.keyboard.press('s')
    await page.waitForSelector('aside tr.out')
    await page.screenshot({ path: process.argv[2] ?? PICTURE })
    process.stdout.write(`${process.argv[2] ?? PICTURE}\n`)
  } finally {
    await browser.close()
  }
} finally {
  await engine.stop()
}
