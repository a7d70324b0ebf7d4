import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'

/** Chromium as Debian brings it, without the parts that would talk to anybody. */
const ARGUMENTS = [
  '--no-sandbox', '--headless', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
]
const EXECUTABLE = '/usr/bin/chromium'

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS })

export interface Visit {
  readonly page: Page
  /** Errors of scripts, and complaints such as those of the content-security policy. */
  readonly problems: string[]
  /** Addresses asked for that are not the page's own. */
  readonly elsewhere: string[]
}

/** Opens an address and waits until the journal is there. */
export const visit = async (browser: Browser, url: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Visit> => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options })
  const problems: string[] = []
  const elsewhere: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin && !request.url().startsWith('blob:')) elsewhere.push(request.url())
  })
  await page.goto(url)
  await page.waitForSelector('.shell')
  return { page, problems, elsewhere }
}
