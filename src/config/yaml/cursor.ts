import type { ErrorCode, Place } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { Problems } from '../problems.ts'
import { parseDuration } from '../../core/duration.ts'
import type { Path, SourceDocument } from './document.ts'

/**
 * One value of a document with its path. Reading it as something that it is not tells `problems` and gives undefined, so that a
 * whole document is read in one go. Null counts as absent, as in Go.
 */
export class Cursor {
  readonly value: unknown
  readonly path: Path
  readonly problems: Problems
  private readonly document: SourceDocument

  private constructor(document: SourceDocument, problems: Problems, path: Path, value: unknown) {
    this.document = document
    this.problems = problems
    this.path = path
    this.value = value
  }

  /** The whole of a document. */
  static of(document: SourceDocument, problems: Problems): Cursor {
    return new Cursor(document, problems, [], document.value)
  }

  get given(): boolean {
    return this.value !== undefined && this.value !== null
  }

  get place(): Place {
    return this.document.placeOf(this.path)
  }

  /** Of something below this value. */
  placeOf(path: Path, part: 'key' | 'value' = 'value'): Place {
    return this.document.placeOf([...this.path, ...path], part)
  }

  fail(message: string, code: ErrorCode = 'config-invalid'): undefined {
    this.problems.error(code, message, this.place)
    return undefined
  }

  warn(message: string): void {
    this.problems.warn(message, this.place)
  }

  /** The field of an object; absent where there is none. */
  field(name: string): Cursor {
    const value = isObject(this.value) && Object.hasOwn(this.value, name) ? this.value[name] : undefined
    return new Cursor(this.document, this.problems, [...this.path, name], value)
  }

  /** Holds it to be an object with none but these fields; true when it is an object. */
  hasOnly(fields: readonly string[]): boolean {
    if (!this.given) return false
    if (!isObject(this.value)) {
      this.fail(`${this.name} must be an object, got ${kindOf(this.value)}`)
      return false
    }
    for (const given of Object.keys(this.value)) {
      if (fields.includes(given)) continue
      const where = this.path.length === 0 ? '' : ` in ${this.name}`
      this.problems.error('config-unknown-field', `unknown field \`${given}\`${where}${didYouMean(given, fields)}`, this.placeOf([given], 'key'))
    }
    return true
  }

  items(): readonly Cursor[] {
    if (!this.given) return []
    if (!Array.isArray(this.value)) {
      this.fail(`${this.name} must be a list, got ${kindOf(this.value)}`)
      return []
    }
    return this.value.map((item: unknown, index) => new Cursor(this.document, this.problems, [...this.path, String(index)], item))
  }

  text(): string | undefined {
    return this.read('a string', (value) => (typeof value === 'string' ? value : undefined))
  }

  flag(): boolean | undefined {
    return this.read('true or false', (value) => (typeof value === 'boolean' ? value : undefined))
  }

  number(): number | undefined {
    return this.read('a number', (value) => (typeof value === 'number' ? value : undefined))
  }

  whole(): number | undefined {
    return this.read('a whole number', (value) => (Number.isSafeInteger(value) ? (value as number) : undefined))
  }

  object(): Readonly<Record<string, unknown>> | undefined {
    return this.read('an object', (value) => (isObject(value) ? value : undefined))
  }

  /** A Go duration such as "1m30s", in milliseconds. */
  duration(): number | undefined {
    return this.read('a duration such as 400ms, 30s or 1m30s', (value) => (typeof value === 'string' ? parseDuration(value) : undefined))
  }

  read<T>(wanted: string, take: (value: unknown) => T | undefined): T | undefined {
    if (!this.given) return undefined
    const taken = take(this.value)
    return taken === undefined ? this.fail(`${this.name} must be ${wanted}, got ${kindOf(this.value)}`) : taken
  }

  /** "schedulingProfiles[0].plugins[2].weight". */
  get name(): string {
    return this.path.length === 0 ? 'the document' : this.path.map((step, index) => (/^\d+$/.test(step) ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? `the string ${JSON.stringify(value)}` : `the ${typeof value} ${String(value)}`
}
