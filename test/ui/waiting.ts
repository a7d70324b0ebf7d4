import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** The scrubber: its value is the position of the cursor. */
export const POSITION = 'input[aria-label=Position]'

/** Waits until an expression is true in the page; in it `one` finds an element. Evaluated from outside, since the page allows no eval. */
export const until = (page: Page, expression: string): Promise<void> =>
  expect.poll(() => page.evaluate(`(() => { const one = (selector) => document.querySelector(selector); return ${expression} })()`), { timeout: 20_000, interval: 50 }).toBe(true)
