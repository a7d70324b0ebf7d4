import { destination, pino } from 'pino'
import type { Logger as PinoLogger } from 'pino'
import { placeText, SignalboxError } from '../../core/errors.ts'
import { redacted } from './redaction.ts'
import { textLine } from './text-format.ts'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

export type LogFields = Readonly<Record<string, unknown>>

/** Writes lines of at least its level. `requestId` is the field that ties lines to a request; `err` holds an error. */
export interface Logger {
  trace(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /** One whose lines all bear these fields. */
  child(fields: LogFields): Logger
}

export interface LoggerOptions {
  readonly level: LogLevel
  /** JSON, one object a line, or text for people. */
  readonly format: 'json' | 'text'
  /** Where lines go; standard error when absent. */
  readonly write?: (line: string) => void
}

const STANDARD_ERROR = 2

/**
 * Makes the logger. No line holds a prompt, an answer or a secret: fields that may are replaced by "[redacted]", in
 * children too. Lines are written before the call returns, so the last words of a process are not lost.
 */
export const createLogger = ({ level, format, write }: LoggerOptions): Logger => {
  const inColour = write === undefined && process.stderr.isTTY
  const out = write === undefined ? destination({ fd: STANDARD_ERROR, sync: true }) : { write }
  const stream = format === 'json' ? out : { write: (line: string) => out.write(textLine(line, inColour)) }
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => withError(fields),
      },
    },
    stream,
  )
  return guarded(root)
}

/** The library writes the fields of a child as they are. */
const guarded = (inner: PinoLogger): Logger => ({
  trace: inner.trace.bind(inner),
  debug: inner.debug.bind(inner),
  info: inner.info.bind(inner),
  warn: inner.warn.bind(inner),
  error: inner.error.bind(inner),
  child: (fields) => guarded(inner.child(withError(fields))),
})

/** The error is left to its serializer: its fields are not enumerable. */
const withError = ({ err, ...fields }: LogFields): Record<string, unknown> => (err === undefined ? redacted(fields) : { ...redacted(fields), err })

const errorFields = (error: unknown): unknown => {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  if (error instanceof SignalboxError) {
    return { name, code: error.code, message, fix: error.fix, ...(error.place === undefined ? {} : { place: placeText(error.place) }) }
  }
  const { code } = error as NodeJS.ErrnoException
  return { name, message, ...(typeof code === 'string' ? { code } : {}), stack }
}
