import { blockIdsMember, countMember, jsonLine, numberMember } from './trace-lines.ts'
import type { TraceLine } from './trace-lines.ts'
import type { TraceRequest } from './trace-request.ts'

const BLOCK_TOKENS = 16

/** Qwen-Bailian traces: one request a line, `timestamp` in seconds, an id for each 16-token block, the last partial. */
export async function* readBailian(lines: AsyncIterable<TraceLine>): AsyncGenerator<TraceRequest> {
  let index = 0
  for await (const line of lines) {
    const row = jsonLine(line)
    const inputTokens = countMember(line, row, 'input_length', 1)
    yield {
      index: index++,
      atMs: numberMember(line, row, 'timestamp', 0) * 1000,
      inputTokens,
      outputTokens: countMember(line, row, 'output_length', 0),
      blockTokens: BLOCK_TOKENS,
      blockIds: blockIdsMember(line, row, Math.ceil(inputTokens / BLOCK_TOKENS)),
      scope: '',
    }
  }
}
