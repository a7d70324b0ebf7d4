import { readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import type { AdminReply, AdminRequest, AdminRoute, AdminServer } from '../../adapters/http/admin.ts'
import { jsonReply } from '../../adapters/http/admin.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { JournalReader } from '../../journal/index.ts'
import { feedAfter, feedStart, framed } from '../../replay/feed/feed.ts'
import { VERSION } from '../version.ts'
import { pageFolder } from './page-folder.ts'

/** The journal that a page looks at. */
export interface ShownJournal {
  readonly name: string
  /** Whether an engine is writing it. */
  readonly live: boolean
  /** Opens it, or gives what is open. Throws SignalboxError where there is none. */
  reader(): JournalReader
}

/** Bytes of journal in one answer: about a millisecond of reading, so that a running engine is not held up. */
const FEED_BYTES = 1_000_000

/**
 * Nothing from elsewhere, no inline script, no eval; WebAssembly for long hashes. Chromium asks `worker-src` for the
 * worker and `connect-src` for what it fetches.
 */
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const SAFE_HEADERS = { 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin', 'cache-control': 'no-cache' }

const TYPES: Readonly<Record<string, string>> = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' }

/**
 * Serves the page under a path that ends with "/", and its journal beneath it. It reads, and changes nothing.
 * With `loopbackOnly` others than this machine are refused.
 */
export const mountPage = (server: AdminServer, at: string, journal: ShownJournal, loopbackOnly: boolean): void => {
  const guarded = (answer: AdminRoute): AdminRoute => (request) => (loopbackOnly && !request.loopback ? ELSEWHERE : answer(request))
  const api = (name: string, answer: (request: AdminRequest) => AdminReply): void => server.mount('GET', `${at}api/${name}`, guarded((request) => told(() => answer(request))))
  api('journal', () => jsonReply(200, served(journal)))
  api('start', ({ query }) => binary([feedStart(journal.reader(), wholeOf(query, 'position'))]))
  api('after', ({ query }) => binary(feedAfter(journal.reader(), wholeOf(query, 'position'), FEED_BYTES)))
  server.mountUnder(at, guarded(({ path }) => pageFile(path.slice(at.length), at)))
  server.mount('GET', at === '/' ? at : at.slice(0, -1), guarded(() => pageFile('index.html', at)))
}

const ELSEWHERE = jsonReply(403, { error: { message: 'the page is for this machine only: start with --ui on to serve it to others' } })

const served = ({ name, live, reader }: ShownJournal): unknown => {
  const journal = reader()
  return { name, live, version: VERSION, oldestPosition: (journal.segments()[0]?.basePosition ?? 0) + 1, lastPosition: journal.lastPosition() }
}

const binary = (parts: Parameters<typeof framed>[0]): AdminReply => ({ status: 200, contentType: 'application/octet-stream', text: '', bytes: framed(parts), headers: SAFE_HEADERS })

/** A problem that the reader of the page can act on is told as it is. */
const told = (answer: () => AdminReply): AdminReply => {
  try {
    return answer()
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error
    return jsonReply(409, { error: { code: error.code, message: error.message } })
  }
}

const wholeOf = (query: URLSearchParams, name: string): number => {
  const given = query.get(name) ?? ''
  if (!/^\d{1,15}$/.test(given)) throw new SignalboxError('usage', `give ${name} as a whole number`)
  return Number(given)
}

const pageFile = async (name: string, at: string): Promise<AdminReply> => {
  const folder = await pageFolder()
  const wanted = normalize(name === '' ? 'index.html' : name)
  let bytes: Uint8Array
  try {
    if (wanted.startsWith('..') || !/^[\w./-]+$/.test(wanted)) throw new Error('outside of the page')
    bytes = readFileSync(join(folder, wanted))
  } catch {
    return jsonReply(404, { error: { message: `there is no ${wanted} in the page` } })
  }
  // The page may be asked for without a slash at the end, where addresses relative to it would miss its folder.
  if (wanted === 'index.html') bytes = Buffer.from(Buffer.from(bytes).toString().replaceAll('"./', `"${at}`))
  const type = TYPES[wanted.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
  return { status: 200, contentType: type, text: '', bytes, headers: { ...SAFE_HEADERS, ...(wanted.startsWith('assets/') ? { 'cache-control': 'public, max-age=31536000, immutable' } : {}) } }
}
