import { placeText, SignalboxError } from '../core/errors.ts'
import type { ErrorCode, Place } from '../core/errors.ts'

/** A remark on a configuration that loads all the same. */
export interface Warning {
  readonly message: string
  readonly place?: Place
}

/** "message (file:line:column)". */
export const warningText = (warning: Warning): string =>
  warning.place === undefined ? warning.message : `${warning.message} (${placeText(warning.place)})`

/** All that is wrong with a configuration, in the order of the document. It speaks as its first error where only one can be shown. */
export class AggregateConfigurationError extends SignalboxError {
  readonly errors: readonly SignalboxError[]

  constructor(errors: readonly [SignalboxError, ...SignalboxError[]]) {
    const more = errors.length === 1 ? '' : ` (and ${String(errors.length - 1)} more)`
    super(errors[0].code, errors[0].message + more, errors[0].place)
    this.errors = errors
  }

  override toString(): string {
    return this.errors.map((error) => error.toString()).join('\n')
  }
}

/** Collects what is wrong, so that one run tells all independent errors. */
export class Problems {
  private readonly found: SignalboxError[] = []
  readonly warnings: Warning[] = []

  error(code: ErrorCode, message: string, place?: Place): void {
    this.found.push(new SignalboxError(code, message, place))
  }

  warn(message: string, place?: Place): void {
    this.warnings.push(place === undefined ? { message } : { message, place })
  }

  get none(): boolean {
    return this.found.length === 0
  }

  /** Throws AggregateConfigurationError when anything was found. */
  check(): void {
    const [first, ...rest] = [...this.found].sort(byPlace)
    if (first !== undefined) throw new AggregateConfigurationError([first, ...rest])
  }
}

/** Errors of one file by place; others keep their order. */
const byPlace = (a: SignalboxError, b: SignalboxError): number => {
  if (a.place === undefined || b.place === undefined || a.place.file !== b.place.file) return 0
  return (a.place.line ?? 0) - (b.place.line ?? 0) || (a.place.column ?? 0) - (b.place.column ?? 0)
}
