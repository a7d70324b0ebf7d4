import { isAlias, isCollection, isMap, isPair, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from 'yaml'
import type { Document, Node, Pair, ScalarTag, YAMLMap } from 'yaml'
import type { Place } from '../../core/errors.ts'
import type { Problems } from '../problems.ts'

export type Path = readonly string[]

/** One YAML (or JSON) document as plain values, with the place of each. */
export interface SourceDocument {
  readonly file: string
  readonly value: unknown
  /** Where the value at a path is, or its key; the nearest part that exists when it is not there. */
  placeOf(path: Path, part?: 'key' | 'value'): Place
}

/** Aliases at most that one may stand for another in: a bound on what a small text can grow to. */
const ALIASES_MAX = 100

/** How the parser tells that its stack was not enough. */
const TOO_DEEP = /call stack|stack overflow/i

/** The unquoted words that YAML 1.1, which llm-d reads, takes for booleans and YAML 1.2 does not. */
export const OLD_BOOLEANS: ScalarTag = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  identify: (value) => typeof value === 'boolean',
  test: /^(?:yes|Yes|YES|on|On|ON|no|No|NO|off|Off|OFF)$/,
  resolve: (text) => /^(?:yes|on)$/i.test(text),
}

/**
 * The documents of a text that have content. Duplicate keys, unknown tags and numbers that JSON does not know are errors, told
 * to `problems` with their place; a document with an error is left out.
 */
export const parseDocuments = (file: string, text: string, problems: Problems): readonly SourceDocument[] => {
  const lines = new LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: true, merge: true, customTags: [OLD_BOOLEANS] }
  const parsed = parseAllDocuments(text, options)
  const documents: SourceDocument[] = []
  for (const document of Array.from(parsed)) {
    const placeAt = (offset: number): Place => placeIn(file, lines, offset)
    if (!sound(document, text, placeAt, problems) || document.contents === null) continue
    if (isScalar(document.contents) && document.contents.value === null) continue
    const root = document.contents
    documents.push({
      file,
      value: document.toJS({ maxAliasCount: ALIASES_MAX }) as unknown,
      placeOf: (path, part = 'value') => placeAt(offsetOf(document, root, path, part)),
    })
  }
  return documents
}

const placeIn = (file: string, lines: LineCounter, offset: number): Place => {
  const { line, col } = lines.linePos(offset)
  return line === 0 ? { file } : { file, line, column: col }
}

const sound = (document: Document.Parsed, text: string, placeAt: (offset: number) => Place, problems: Problems): boolean => {
  let fine = true
  const fault = (message: string, offset: number): void => {
    fine = false
    problems.error('config-syntax', message, placeAt(offset))
  }
  const [malformed] = [...document.errors, ...document.warnings].filter(({ code }) => code !== 'DUPLICATE_KEY')
  // What follows a fault of syntax is mostly its echo.
  if (malformed !== undefined) fault(TOO_DEEP.test(malformed.message) ? 'nested too deeply' : malformed.message, malformed.pos[0])
  for (const { code, pos } of document.errors) if (code === 'DUPLICATE_KEY') fault(`\`${wordAt(text, pos[0])}\` is given twice`, pos[0])
  if (!fine) return false
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) === undefined) fault(`no anchor \`&${alias.source}\` before this alias`, startOf(alias))
    },
    Scalar: (_, scalar) => {
      const { value } = scalar
      if (typeof value === 'number' && !Number.isFinite(value)) fault(`${String(value)} is not a number that a configuration may hold`, startOf(scalar))
    },
  })
  if (!fine) return false
  try {
    document.toJS({ maxAliasCount: ALIASES_MAX })
  } catch (error) {
    fault(error instanceof Error ? error.message : String(error), startOf(document.contents))
  }
  return fine
}

const wordAt = (text: string, offset: number): string => /^(?:"[^"\n]*"|'[^'\n]*'|[^\s:,}\]]+)/.exec(text.slice(offset))?.[0] ?? ''

const startOf = (node: unknown): number => (isScalar(node) || isCollection(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0)

const offsetOf = (document: Document.Parsed, root: Node, path: Path, part: 'key' | 'value'): number => {
  let node: unknown = root
  let key: unknown = root
  for (const step of path) {
    const pair = childOf(document, node, step)
    if (pair === undefined) return startOf(key)
    // A value left empty has no place of its own.
    key = pair.key
    node = pair.value ?? pair.key
  }
  return startOf(part === 'key' ? key : isEmpty(node) ? key : node)
}

const isEmpty = (node: unknown): boolean => isScalar(node) && node.value === null && node.range?.[0] === node.range?.[1]

const childOf = (document: Document.Parsed, node: unknown, step: string): { key: unknown; value: unknown } | undefined => {
  const target = isAlias(node) ? node.resolve(document) : node
  if (isSeq(target)) {
    const item = target.items[Number(step)]
    return item === undefined ? undefined : { key: item, value: isPair(item) ? item.value : item }
  }
  return isMap(target) ? pairOf(document, target, step) : undefined
}

const pairOf = (document: Document.Parsed, map: YAMLMap, name: string): Pair | undefined => {
  const own = map.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === name)
  if (own !== undefined) return own
  for (const pair of map.items) {
    if (!isScalar(pair.key) || pair.key.value !== '<<') continue
    const merged = isSeq(pair.value) ? pair.value.items : [pair.value]
    for (const source of merged) {
      const target = isAlias(source) ? source.resolve(document) : source
      const found = isMap(target) ? pairOf(document, target, name) : undefined
      if (found !== undefined) return found
    }
  }
  return undefined
}
