import axe from 'axe-core'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** Serious and critical faults that axe-core finds in a page, each with where it is. */
export const seriousFaults = async (page: Page): Promise<string[]> => {
  // The page's policy forbids scripts from elsewhere; what the debugger evaluates is not the page's.
  await page.evaluate(axe.source)
  const results = (await page.evaluate('axe.run(document, { resultTypes: ["violations"] })')) as AxeResults
  return results.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.target.join(' ')} ${node.failureSummary?.split('\n')[1]?.trim() ?? ''}`))
}
