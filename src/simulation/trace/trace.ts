import { readAgentic } from './agentic-trace.ts'
import { readAzure } from './azure-trace.ts'
import { readBailian } from './bailian-trace.ts'
import { readMooncake } from './mooncake-trace.ts'
import { jsonLine, malformed, traceLines } from './trace-lines.ts'
import type { TraceLine } from './trace-lines.ts'
import { TRACE_FORMATS, TraceError } from './trace-request.ts'
import type { TraceFormat, TraceRequest } from './trace-request.ts'

const READERS: Readonly<Record<TraceFormat, (lines: AsyncIterable<TraceLine>) => AsyncGenerator<TraceRequest>>> = {
  mooncake: readMooncake,
  azure: readAzure,
  agentic: readAgentic,
  bailian: readBailian,
}

/**
 * Reads a trace file line by line; the format is found in its first line unless given.
 * Throws a TraceError with file and line when the file is not readable, empty, of no known format or malformed.
 */
export async function* readTrace(file: string, format?: TraceFormat): AsyncGenerator<TraceRequest> {
  const lines = traceLines(file)
  const first = await lines.next()
  if (first.done === true) throw new TraceError(file, 1, 'the trace is empty', 'give a file with at least one request')
  yield* READERS[format ?? detectFormat(first.value)](resume(first.value, lines))
}

/** The format of a trace, from its first line. Throws a TraceError when none fits. */
function detectFormat(line: TraceLine): TraceFormat {
  if (!line.text.trimStart().startsWith('{')) {
    if (/^TIMESTAMP\b/.test(line.text)) return 'azure'
    throw unknownFormat(line)
  }
  const row = jsonLine(line)
  if (Array.isArray(row['requests'])) return 'agentic'
  if ('chat_id' in row) return 'bailian'
  if ('hash_ids' in row && 'timestamp' in row) return 'mooncake'
  throw unknownFormat(line)
}

function unknownFormat(line: TraceLine): TraceError {
  return malformed(line, 'this is no trace format known here', `give --format with one of ${TRACE_FORMATS.join(', ')}`)
}

async function* resume(first: TraceLine, rest: AsyncGenerator<TraceLine>): AsyncGenerator<TraceLine> {
  yield first
  yield* rest
}
