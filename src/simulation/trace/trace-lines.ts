import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { TraceError } from './trace-request.ts'

export interface TraceLine {
  readonly file: string
  /** From 1. */
  readonly number: number
  readonly text: string
}

/** The lines of a file that are not blank, one at a time. Throws a TraceError when the file cannot be read. */
export async function* traceLines(file: string): AsyncGenerator<TraceLine> {
  const stream = createReadStream(file, 'utf8')
  let number = 0
  try {
    for await (const text of createInterface({ input: stream, crlfDelay: Infinity })) {
      number++
      if (text.trim() !== '') yield { file, number, text }
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new TraceError(file, number + 1, `not readable (${reason})`, 'give the path of a trace file')
  } finally {
    stream.destroy()
  }
}

/** The object in a JSON line. Throws a TraceError. */
export function jsonLine(line: TraceLine): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(line.text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw malformed(line, `not valid JSON (${reason})`, 'each line must hold one JSON object; a cut file must lose its last line')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed(line, 'not a JSON object', 'each line must hold one JSON object')
  }
  return value as Record<string, unknown>
}

/** A number of at least `least` under `name`. Throws a TraceError that names the member. */
export function numberMember(line: TraceLine, object: Readonly<Record<string, unknown>>, name: string, least: number, place = ''): number {
  const value = object[name]
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) {
    throw malformed(line, `\`${place}${name}\` is ${JSON.stringify(value) ?? 'missing'}`, `it must be a number of at least ${least}`)
  }
  return value
}

/** A count of at least `least` under `name`. Throws a TraceError that names the member. */
export function countMember(line: TraceLine, object: Readonly<Record<string, unknown>>, name: string, least: number, place = ''): number {
  const value = numberMember(line, object, name, least, place)
  if (!Number.isSafeInteger(value)) throw malformed(line, `\`${place}${name}\` is ${value}`, 'it must be a whole number')
  return value
}

/** The block ids under `hash_ids`, of which there may be `most`. Throws a TraceError. */
export function blockIdsMember(line: TraceLine, object: Readonly<Record<string, unknown>>, most: number, place = ''): number[] {
  const ids = object['hash_ids']
  if (!Array.isArray(ids) || !ids.every((id) => Number.isSafeInteger(id) && id >= 0)) {
    throw malformed(line, `\`${place}hash_ids\` is not a list of whole numbers`, 'give one id per block of the prompt')
  }
  if (ids.length > most) {
    throw malformed(line, `\`${place}hash_ids\` has ${ids.length} blocks, the prompt has room for ${most}`, 'check the block size of the format (--format)')
  }
  return ids as number[]
}

export function malformed(line: TraceLine, problem: string, fix: string): TraceError {
  return new TraceError(line.file, line.number, problem, fix)
}
