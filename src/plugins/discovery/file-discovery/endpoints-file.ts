import { joinHostPort } from '../../../core/address.ts'
import type { EndpointDescription } from '../../../core/endpoint.ts'

/** What is wrong at a place in the file, from its top. */
export interface FileProblem {
  readonly path: readonly string[]
  readonly message: string
}

export interface EndpointsFile {
  readonly endpoints: readonly EndpointDescription[]
  readonly problems: readonly FileProblem[]
}

/** Larger files are refused before they are parsed. (llm-d: file-discovery) */
export const FILE_BYTES_MAX = 1_048_576

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the endpoints from the file's parsed document: `endpoints: [{name, namespace, address, port, labels}]`. A value of
 * a wrong kind (a port that is no string, say) makes the whole file unreadable; an entry that is well formed and wrong is
 * left out. Either way there is a problem. (llm-d: file-discovery)
 */
export const readEndpointsFile = (document: unknown): EndpointsFile => {
  const shape = shapeProblems(document)
  if (shape.length > 0) return { endpoints: [], problems: shape }
  const entries = isObject(document) ? ((document['endpoints'] ?? []) as readonly (Fields | null)[]) : []
  const endpoints = new Map<string, EndpointDescription>()
  const problems: FileProblem[] = []
  entries.forEach((entry, index) => {
    const path = ['endpoints', String(index)]
    const described = describe(entry ?? {}, path)
    if ('message' in described) problems.push(described)
    else endpoints.set(described.id, described)
  })
  return { endpoints: [...endpoints.values()], problems }
}

const describe = (entry: Fields, path: readonly string[]): EndpointDescription | FileProblem => {
  const address = textOf(entry['address'])
  const port = textOf(entry['port'])
  if (!isIpV4(address)) return { path: [...path, 'address'], message: `address "${address}" is not an IPv4 address` }
  if (!/^[+]?\d{1,9}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
    return { path: [...path, 'port'], message: `port "${port}" is not a number from 1 to 65535` }
  }
  const labels = new Map(Object.entries((entry['labels'] ?? {}) as Readonly<Record<string, string>>))
  const id = `${textOf(entry['namespace']) || 'default'}/${textOf(entry['name'])}`
  const metricsHostPort = joinHostPort(address, Number(port))
  return { id, address, port: Number(port), labels, annotations: new Map(), incarnation: '', metricsHostPort }
}

const shapeProblems = (document: unknown): FileProblem[] => {
  if (document === null || document === undefined) return []
  if (!isObject(document)) return [{ path: [], message: 'the file must be an object with a list `endpoints`' }]
  const list = document['endpoints'] ?? []
  if (!Array.isArray(list)) return [{ path: ['endpoints'], message: 'endpoints must be a list' }]
  return (list as readonly unknown[]).flatMap((entry, index) => entryShape(entry, ['endpoints', String(index)]))
}

const entryShape = (entry: unknown, path: readonly string[]): FileProblem[] => {
  if (entry === null) return []
  if (!isObject(entry)) return [{ path, message: 'an endpoint must be an object' }]
  const problems: FileProblem[] = []
  for (const name of ['name', 'namespace', 'address', 'port']) {
    const value = entry[name]
    if (value === undefined || value === null || typeof value === 'string') continue
    const hint = typeof value === 'number' ? `; write "${value}"` : ''
    problems.push({ path: [...path, name], message: `${name} must be a string${hint}` })
  }
  const labels = entry['labels']
  if (labels === undefined || labels === null) return problems
  if (!isObject(labels)) return [...problems, { path: [...path, 'labels'], message: 'labels must be an object' }]
  for (const [name, value] of Object.entries(labels)) {
    if (typeof value !== 'string') problems.push({ path: [...path, 'labels', name], message: `label ${name} must be a string; write "${String(value)}"` })
  }
  return problems
}

/** Dotted decimal with four numbers from 0 to 255, without leading zeros. (Go: netip) */
const isIpV4 = (text: string): boolean => {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
