import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/config/load.ts'
import { settingsTable } from '../../src/config/signalbox/options.ts'
import { pluginTypes } from '../../src/plugins/index.ts'
import { MAIN } from '../story/server.ts'
import { pluginTypes as exampleTypes } from './examples/same-zone.ts'
import { Clone } from './clone.ts'
import { blocksOf } from './markdown.ts'
import type { Block } from './markdown.ts'

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
const EXAMPLES = join(import.meta.dirname, 'examples')
const COMMAND_MS = 60_000
const blocks = blocksOf(README)

/** Numbers and times differ from run to run, and so does how wide they make a column. */
const form = (line: string): string =>
  line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replace(/never heard/g, '0 ms').replace(/\d[\d,.]*\d|\d/g, '#').replace(/\s+/g, ' ').trim()

/** The lines shown that the output does not have; one that ends with … is a beginning. */
const missing = (shown: string, out: string): readonly string[] => {
  const lines = out.split('\n').map(form)
  return shown.split('\n').map(form).filter((line) => line !== '' && !lines.some((other) => (line.endsWith('…') ? other.startsWith(line.slice(0, -1).trimEnd()) : other === line)))
}

/** What the document shows as the output of a block: the text block right behind it. */
const shownAfter = (block: Block): string => {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.language === 'text' ? next.text : ''
}

const run = async (clone: Clone, { text }: Block): Promise<{ readonly code: number | null; readonly out: string }> => {
  const line = text.trim()
  if (line === 'npm start') return { out: await clone.start(), code: 0 }
  if (line.startsWith('signalbox serve ')) return clone.serve(line.split(' ').slice(2))
  return clone.shell(text)
}

describe('what the README says to type', () => {
  const clone = new Clone()
  afterAll(() => clone.remove(), COMMAND_MS)

  // Files first: they are written before the commands that read them run.
  for (const { name, text } of blocks.filter((block) => block.name !== '')) clone.write(name, text)

  // `npm test` runs this very test.
  const typed = blocks.filter(({ language, text }) => language === 'sh' && text.trim() !== 'npm test')
  it.each(typed)('line $line: $text', async (block) => {
    const { code, out } = await run(clone, block)
    expect(code, out).toBe(0)
    expect(missing(shownAfter(block), out), out).toEqual([])
  }, COMMAND_MS)

  it('ends with grace', async () => {
    expect(await clone.stop()).toBe(0)
  }, COMMAND_MS)
})

describe('what the README shows', () => {
  it.each(blocks.filter(({ name }) => name.endsWith('.ts') || name === 'zones.yaml'))('$name is the example that is compiled and loaded', ({ name, text }) => {
    const source = readFileSync(join(EXAMPLES, name), 'utf8')
    expect(text).toBe(source.replace("'../../../src/plugins/index.ts'", "'signalbox/plugins'").replace("'../../../src/app/index.ts'", "'signalbox'"))
  })

  it.each(blocks.filter(({ text }) => text.includes('apiVersion:') && text.includes('kind:')))('the configuration at line $line loads', ({ text }) => {
    const { completed } = loadConfiguration({ texts: [{ file: 'README.md', text }], pluginTypes: [...pluginTypes, ...exampleTypes] })
    expect(completed.profiles.length).toBeGreaterThan(0)
  })

  it('has settings as they are', () => {
    const real = new Set(settingsTable().map(({ name, values, default: fallback, help }) => `| \`${name}\` | ${values.replaceAll('|', '\\|')} | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |`))
    const section = README.slice(README.indexOf('\n## Configuration'), README.indexOf('\n## Plugins of your own'))
    const shown = section.split('\n').filter((line) => line.startsWith('| `'))
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.filter((line) => !real.has(line))).toEqual([])
  })

  it('names the commands that there are', () => {
    const help = execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, '--help'], { encoding: 'utf8' })
    const section = README.slice(README.indexOf('\n## Commands'), README.indexOf('\n## Configuration'))
    const shown = [...section.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = '']) => name)
    expect(shown.length).toBeGreaterThan(0)
    for (const name of shown) expect(help).toMatch(new RegExp(`^  ${name} `, 'm'))
  })
})
