import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, linksOf } from './markdown.ts'
import { ROOT, textFiles } from './repository.ts'

const files = textFiles()
const documents = files.filter((path) => path.endsWith('.md'))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** What the project does not speak of: how it is made, and the machines that it is made on. */
const UNSPOKEN: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed?: RegExp }[] = [
  { what: 'paths of one machine', pattern: /(?<![\w./-])\/(?:work|root|tmp|opt|home\/\w+)\//, allowed: /\/(?:tmp|opt|home)\/(?:vllm|models?|app)\b/ },
  { what: 'tickets', pattern: /\bissues?\b(?! (?:a|the|an) )/i },
  { what: 'who makes it', pattern: /\b(?:sub-?task|helper|co-?author|pair programm\w+)s?\b/i },
  { what: 'assistants', pattern: /\b(?:AI|A\.I\.|LLM)[- ](?:generated|written|assisted|assistant|agents?)\b|\b(?:Claude|ChatGPT|Copilot|Codex)\b/ },
  { what: 'work undone', pattern: /\b(?:TODO|FIXME|HACK)\b/ },
]
/** Taken over as they are, or about these very words. */
const EXEMPT = /^(?:LICENSE$|package-lock\.json$|\.tools\/node24\/|\.config\/house\.js$|test\/data\/|test\/conformance\/vectors\/|test\/hazards\/cases\/|test\/ground\/|test\/docs\/repository\.test\.ts$)/

describe('the texts of the project', () => {
  it.each(UNSPOKEN)('do not speak of $what', ({ pattern, allowed }) => {
    const found = files.filter((path) => !EXEMPT.test(path)).flatMap((path) =>
      read(path).split('\n').flatMap((line, i) => (pattern.test(line) && allowed?.test(line) !== true ? [`${path}:${i + 1}: ${line.trim().slice(0, 160)}`] : [])))
    expect(found).toEqual([])
  })

  it('are many', () => expect(files.length).toBeGreaterThan(300))
})

describe('the links of the documents', () => {
  it.each(documents)('%s links to what is there', (path) => {
    const missing = linksOf(read(path)).filter((target) => !/^\w+:/.test(target)).filter((target) => {
      const [file = '', anchor] = target.split('#')
      const there = file === '' ? join(ROOT, path) : join(ROOT, dirname(path), file)
      if (!existsSync(there)) return true
      return anchor !== undefined && !anchorsOf(readFileSync(there, 'utf8')).has(anchor)
    })
    expect(missing).toEqual([])
  })

  it.each(documents)('%s links to nothing outside of the project by a path', (path) => {
    const outside = linksOf(read(path)).filter((target) => !/^\w+:|^#/.test(target)).filter((target) => relative(ROOT, join(ROOT, dirname(path), target)).startsWith('..'))
    expect(outside).toEqual([])
  })
})

describe('the folders', () => {
  const folders = readdirSync(join(ROOT, 'src')).filter((name) => statSync(join(ROOT, 'src', name)).isDirectory())

  it.each(folders)('src/%s stands in the table of src/README.md', (name) => {
    expect(read('src/README.md')).toMatch(new RegExp(`^\\| (?:\\[${name}\\]\\(${name}/README\\.md\\)|${name}) \\|`, 'm'))
  })

  it('of the tests stand in the table of test/README.md', () => {
    const table = read('test/README.md')
    const missing = readdirSync(join(ROOT, 'test')).filter((name) => !name.endsWith('.md')).filter((name) => !table.includes(`| \`${name}\` |`) && !table.includes(`| [\`${name}\`](${name}/README.md) |`))
    expect(missing).toEqual([])
  })

  it('of the adapters stand in the table of src/adapters/README.md', () => {
    const table = read('src/adapters/README.md')
    const missing = readdirSync(join(ROOT, 'src/adapters')).filter((name) => !name.endsWith('.md')).filter((name) => !table.includes(`| \`${name}\` |`) && !table.includes(`| [\`${name}\`](${name}/README.md) |`))
    expect(missing).toEqual([])
  })
})
