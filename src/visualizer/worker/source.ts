import { JournalFile } from '../../journal/file.ts'
import type { StateAt } from '../../journal/state-message.ts'
import { feedAfter, feedStart, openStart, unframed } from '../../replay/feed/feed.ts'
import type { FeedPart } from '../../replay/feed/feed.ts'
import type { Source } from './messages.ts'

/** What a server says of its journal. */
interface ServedJournal {
  readonly name: string
  readonly live: boolean
  readonly version: string
  readonly oldestPosition: number
  readonly lastPosition: number
}

/** A journal that can be read on from any position. */
export interface JournalSource extends ServedJournal {
  start(): Promise<StateAt>
  /** What follows a position; empty where there is nothing yet. */
  after(position: number): Promise<readonly FeedPart[]>
}

/** Whoever has the journal does not answer; it may, when asked again. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Bytes asked for at once. */
const FEED_BYTES = 1_000_000
/** Records that are opened without asking for an earlier position: a page should be there at once. */
const RECORDS_OPENED_MAX = 200_000

/** Opens a source. Throws an Error in words where it cannot be read. */
export const openSource = (source: Source): Promise<JournalSource> =>
  source.kind === 'file' ? Promise.resolve(fileSource(source.name, new Uint8Array(source.bytes))) : serverSource(source.url, source.position)

const fileSource = (name: string, bytes: Uint8Array): JournalSource => {
  const journal = new JournalFile({ size: bytes.length, read: (offset, length) => bytes.subarray(offset, Math.min(bytes.length, offset + length)) })
  const oldest = journal.segments()[0]?.basePosition ?? 0
  return {
    name, live: false, version: '', oldestPosition: oldest + 1, lastPosition: journal.lastPosition(),
    start: () => Promise.resolve(openStart(feedStart(journal, oldest))),
    after: (position) => Promise.resolve(feedAfter(journal, position, FEED_BYTES)),
  }
}

const serverSource = async (url: string, wanted: number | undefined): Promise<JournalSource> => {
  const served = (await (await answered(`${url}/journal`)).json()) as ServedJournal
  const startAt = Math.max(served.oldestPosition - 1, Math.min(wanted === undefined ? Infinity : wanted - 1, served.lastPosition - RECORDS_OPENED_MAX))
  const parts = async (path: string): Promise<FeedPart[]> => unframed(new Uint8Array(await (await answered(`${url}/${path}`)).arrayBuffer()))
  return {
    ...served,
    start: async () => {
      const [part] = await parts(`start?position=${Math.max(0, startAt)}`)
      if (part === undefined) throw new Error('the server gave no state to start from')
      return openStart(part)
    },
    after: (position) => parts(`after?position=${position}`),
  }
}

const answered = async (url: string): Promise<Response> => {
  const response = await fetch(url).catch(() => {
    throw new Unreachable(`nobody answers at ${new URL(url).host}: is what served this page still running?`)
  })
  if (response.ok) return response
  if (response.status >= 500) throw new Unreachable(`${new URL(url).host} answered ${response.status}`)
  throw new Error(problemOf(await response.text()) ?? `${url} answered ${response.status}`)
}

/** What the server says is wrong, where it says so. */
const problemOf = (text: string): string | undefined => {
  try {
    return (JSON.parse(text) as { readonly error?: { readonly message?: string } }).error?.message
  } catch {
    return undefined
  }
}
