import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginTypes } from '../../src/plugins/index.ts'
import { ROOT } from './repository.ts'

const PLUGINS = join(ROOT, 'src/plugins')
const SECTIONS = ['What it does', 'Parameters', 'Data', 'Example', 'Differences']

const foldersIn = (path: string): readonly string[] => readdirSync(path).filter((name) => statSync(join(path, name)).isDirectory())
const kinds = foldersIn(PLUGINS)
const types = kinds.flatMap((kind) => foldersIn(join(PLUGINS, kind)).map((type) => ({ kind, type, path: join(PLUGINS, kind, type) })))
const folders = types.filter(({ path }) => existsSync(join(path, 'README.md')))
/** Text of a module and of those beneath the plugins that it imports. */
const sourceOf = (file: string, seen: Set<string> = new Set()): string => {
  if (seen.has(file) || !file.startsWith(`${PLUGINS}/`)) return ''
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  return [text, ...[...text.matchAll(/from '(\.[^']+)'/g)].map(([, path = '']) => sourceOf(join(dirname(file), path), seen))].join('\n')
}

const words = (text: string): string => text.replaceAll('-', ' ')
const sectionOf = (text: string, heading: string): string => text.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? ''

describe('the READMEs of the plugins', () => {
  it('are there', () => expect(types.filter((type) => !folders.includes(type)).map(({ path }) => path)).toEqual([]))

  it.each(folders)('$kind/$type has the sections of all, in order', ({ path }) => {
    const headings = [...readFileSync(join(path, 'README.md'), 'utf8').matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
    expect(headings.filter((heading) => SECTIONS.includes(heading))).toEqual(SECTIONS)
  })

  it.each(folders.filter(({ type }) => pluginTypes.some((known) => known.type === type)))('$kind/$type says kinds and stability as they are', ({ type, path }) => {
    const text = readFileSync(join(path, 'README.md'), 'utf8')
    const known = pluginTypes.find((each) => each.type === type)
    const row = /^\| kinds? \| (.+) \|$/m.exec(text)?.[1] ?? ''
    for (const kind of known?.kinds ?? []) expect(words(row)).toContain(words(kind))
    expect(/^\| stability \| (\w+)/m.exec(text)?.[1]).toBe(known?.stability)
  })

  it.each(folders)('$kind/$type names parameters that its code reads', ({ path }) => {
    const table = sectionOf(readFileSync(join(path, 'README.md'), 'utf8'), 'Parameters')
    const names = [...table.matchAll(/^\| `?([A-Za-z][\w.]*)`? \|/gm)].flatMap(([, name = '']) => name.split('.')).filter((name) => name !== 'name' && name !== 'parameter')
    const source = sourceOf(join(path, 'index.ts'))
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))).toEqual([])
  })

  it('name every kind of folder in the table', () => {
    const table = readFileSync(join(PLUGINS, 'README.md'), 'utf8')
    expect(kinds.filter((kind) => !table.includes(`[${kind}](${kind})`))).toEqual([])
  })
})
