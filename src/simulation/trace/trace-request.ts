/** One request of a trace, whatever format it came in. */
export interface TraceRequest {
  /** Place in the trace, from 0. */
  readonly index: number
  /** Arrival after the trace's start, ms. */
  readonly atMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Tokens in a block of `blockIds`. */
  readonly blockTokens: number
  /**
   * What the prompt's blocks are, from its start: within a scope, equal ids are equal blocks after equal prefixes.
   * Tokens without an id belong to this request alone.
   */
  readonly blockIds: readonly number[]
  /** Ids mean the same only within one scope (a session); the empty scope is the whole trace. */
  readonly scope: string
}

export const TRACE_FORMATS = ['mooncake', 'azure', 'agentic', 'bailian'] as const
export type TraceFormat = (typeof TRACE_FORMATS)[number]

/** A trace cannot be read; the message names file and line, what is wrong and what to do. */
export class TraceError extends Error {
  readonly file: string
  readonly line: number

  constructor(file: string, line: number, problem: string, fix: string) {
    super(`${file}:${line}: ${problem}; ${fix}`)
    this.name = 'TraceError'
    this.file = file
    this.line = line
  }
}
