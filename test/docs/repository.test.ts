import { existsSync, readFileSync } from 'node:fs'
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

describe('the files named in the documents', () => {
  const named = documents.filter((path) => path.startsWith('src/') || path.startsWith('machines/') || path.startsWith('test/'))

  it.each(named)('%s names files that are there', (path) => {
    const prose = read(path).replace(/^```[\s\S]*?^```$/gm, '')
    const names = [...prose.matchAll(/`([\w./-]+\.(?:ts|proto|yaml))`/g)].map(([, name = '']) => name)
    // From the folder of the document, from the root, or, as a bare name, below either.
    const isThere = (name: string): boolean => existsSync(join(ROOT, dirname(path), name)) || existsSync(join(ROOT, name)) || files.some((file) => file.startsWith(`${dirname(path)}/`) && file.endsWith(`/${name}`))
    expect(names.filter((name) => !isThere(name))).toEqual([])
  })
})

describe('the folders', () => {
  const within = (folder: string): readonly string[] => [...new Set(files.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1).split('/')).filter(({ length }) => length > 1).map(([name = '']) => name))]
  const rows = (document: string): string => read(document).split('\n').filter((line) => line.startsWith('|')).map((line) => line.split('|')[1] ?? '').join('\n')

  it.each([['src', 'src/README.md'], ['src/adapters', 'src/adapters/README.md'], ['test', 'test/README.md'], ['deploy', 'deploy/README.md']])('of %s stand in the table of %s', (folder, document) => {
    const named = rows(document)
    expect(within(folder).filter((name) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(named))).toEqual([])
  })
})
