import { isMap, isPair, LineCounter, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import type { EndpointDescription } from '../../core/endpoint.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { Place } from '../../core/errors.ts'
import type { EndpointsFile, FileProblem } from '../../plugins/discovery/file-discovery/index.ts'

/** Reads the file's parsed document; `FileDiscovery` is one. */
export interface DocumentReader {
  read(document: unknown): EndpointsFile
}

/**
 * Reads the endpoints from the text of the file, YAML or JSON. All of it is right, or it is an error.
 * @throws SignalboxError config-syntax or config-invalid, with line and column of the first thing wrong
 */
export const readEndpoints = (text: string, file: string, reader: DocumentReader): readonly EndpointDescription[] => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) throw new SignalboxError('config-syntax', firstLine(error.message), placeAt(file, lines, error.pos[0]))
  // Writing a file anew begins with an empty one, which must not count as "no endpoints".
  if (document.contents === null) throw new SignalboxError('config-invalid', 'the file is empty; write `endpoints: []` where there are none', { file })
  const { endpoints, problems } = reader.read(plain(document, file))
  const [problem] = problems
  if (problem === undefined) return endpoints
  const others = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  throw new SignalboxError('config-invalid', problem.message + others, placeOf(document, file, lines, problem))
}

const plain = (document: Document, file: string): unknown => {
  try {
    return document.toJS() as unknown
  } catch (error) {
    // Aliases that multiply, or that name what is not there.
    throw new SignalboxError('config-syntax', firstLine((error as Error).message), { file })
  }
}

/** Where the value of a path stands; where its parent does, when it is absent. */
const placeOf = (document: Document, file: string, lines: LineCounter, problem: FileProblem): Place => {
  for (let length = problem.path.length; length >= 0; length -= 1) {
    const offset = offsetOf(document, problem.path.slice(0, length))
    if (offset !== undefined) return placeAt(file, lines, offset)
  }
  return { file }
}

const offsetOf = (document: Document, path: readonly string[]): number | undefined => {
  const node = document.getIn(path, true)
  const range = (node as { readonly range?: readonly number[] | null } | undefined)?.range
  if (range !== undefined && range !== null) return range[0]
  const parent = document.getIn(path.slice(0, -1), true)
  if (!isMap(parent)) return undefined
  const pair = parent.items.find((item) => isPair(item) && String(item.key) === path.at(-1))
  return (pair?.key as { readonly range?: readonly number[] } | undefined)?.range?.[0]
}

const placeAt = (file: string, lines: LineCounter, offset: number): Place => {
  const { line, col } = lines.linePos(offset)
  return { file, line, column: col }
}

/** The library adds the source text under its message. */
const firstLine = (message: string): string => (message.split('\n')[0] as string).replace(/ at line \d+, column \d+:?$/, '')
