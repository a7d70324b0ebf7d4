import { malformed } from './trace-lines.ts'
import type { TraceLine } from './trace-lines.ts'
import type { TraceRequest } from './trace-request.ts'

/** Prompts share nothing here, so the size only bounds the pieces in which their text is made. */
const BLOCK_TOKENS = 512
const COLUMNS = ['TIMESTAMP', 'ContextTokens', 'GeneratedTokens']
/** `2023-11-16 18:15:46.6805900`: UTC, with up to 7 digits of a second. */
const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,7}))?(?:Z|\+00:00)?$/

/** Azure inference traces: CSV with `TIMESTAMP`, `ContextTokens` and `GeneratedTokens`, times and lengths only. */
export async function* readAzure(lines: AsyncIterable<TraceLine>): AsyncGenerator<TraceRequest> {
  let index = 0
  let start: WallTime | undefined
  let header = true
  for await (const line of lines) {
    const cells = line.text.split(',').map((cell) => cell.trim())
    if (header) {
      header = false
      if (cells.join() === COLUMNS.join()) continue
      throw malformed(line, 'the column names are missing', `the first line must be ${COLUMNS.join(',')}`)
    }
    if (cells.length !== COLUMNS.length) {
      throw malformed(line, `${cells.length} cells instead of ${COLUMNS.length}`, 'a cut file must lose its last line')
    }
    const at = wallTime(line, cells[0] as string)
    start ??= at
    yield {
      index: index++,
      atMs: at.secondMs - start.secondMs + (at.restMs - start.restMs),
      inputTokens: tokens(line, cells[1] as string, 'ContextTokens', 1),
      outputTokens: tokens(line, cells[2] as string, 'GeneratedTokens', 0),
      blockTokens: BLOCK_TOKENS,
      blockIds: [],
      scope: '',
    }
  }
}

/** In two parts, as milliseconds since 1970 leave no room for 100 ns in a double. */
interface WallTime {
  readonly secondMs: number
  readonly restMs: number
}

function wallTime(line: TraceLine, cell: string): WallTime {
  const match = TIMESTAMP.exec(cell)
  const seconds = match === null ? NaN : Date.parse(`${match[1] as string}T${match[2] as string}Z`)
  if (match === null || Number.isNaN(seconds)) {
    throw malformed(line, `TIMESTAMP is \`${cell}\``, 'it must be like 2023-11-16 18:15:46.6805900')
  }
  return { secondMs: seconds, restMs: Number(`0.${match[3] ?? '0'}`) * 1000 }
}

function tokens(line: TraceLine, cell: string, name: string, least: number): number {
  const value = /^\d+$/.test(cell) ? Number(cell) : NaN
  if (!Number.isSafeInteger(value) || value < least) {
    throw malformed(line, `${name} is \`${cell}\``, `it must be a whole number of at least ${least}`)
  }
  return value
}
