import { SignalboxError } from './errors.ts'
import { didYouMean } from './nearest.ts'

/** A parameter that is not as its plugin wants it; `path` leads to it from the parameters' top. */
export class ParameterError extends SignalboxError {
  readonly path: readonly string[]

  constructor(message: string, path: readonly string[] = []) {
    super('parameter-invalid', message)
    this.path = path
  }
}

/** Reads one value; `fallback` stands where the field is absent or null. */
export interface Field<T> {
  readonly fallback: T
  read(value: unknown, path: readonly string[]): T
}

export type Fields = Readonly<Record<string, Field<unknown>>>
/** What the fields give. */
export type Decoded<F extends Fields> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/**
 * Reads parameters as Go's strict JSON decoder does: an unknown field is an error, names match without regard to case,
 * null and absence leave the default, a wrong type or a fraction for a whole number is an error.
 */
export const decodeParameters = <F extends Fields>(parameters: unknown, fields: F, path: readonly string[] = []): Decoded<F> => {
  const decoded: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) decoded[name] = field.fallback
  if (parameters === undefined || parameters === null) return decoded as Decoded<F>
  if (!isObject(parameters)) throw new ParameterError(`parameters must be an object, got ${kindOf(parameters)}`, path)
  for (const [given, value] of Object.entries(parameters)) {
    const name = Object.hasOwn(fields, given) ? given : Object.keys(fields).find((known) => known.toLowerCase() === given.toLowerCase())
    const field = name === undefined ? undefined : fields[name]
    if (name === undefined || field === undefined) {
      throw new ParameterError(`unknown field "${given}"${didYouMean(given, Object.keys(fields))}`, [...path, given])
    }
    if (value !== null) decoded[name] = field.read(value, [...path, given])
  }
  return decoded as Decoded<F>
}

/** As decodeParameters; the message of what is wrong begins with `prefix`. */
export const decodeParametersOf = <F extends Fields>(prefix: string, parameters: unknown, fields: F): Decoded<F> => {
  try {
    return decodeParameters(parameters, fields)
  } catch (error) {
    if (error instanceof ParameterError) throw new ParameterError(`${prefix}${error.message}`, error.path)
    throw error
  }
}

/** A whole number, exact up to 2^53 - 1. */
export const int = <D extends number | undefined>(fallback: D): Field<number | D> => ({
  fallback,
  read: (value, path) => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    throw wrong('a whole number', value, path)
  },
})

/** A finite number. */
export const number = <D extends number | undefined>(fallback: D): Field<number | D> => ({
  fallback,
  read: (value, path) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value
    throw wrong('a number', value, path)
  },
})

export const text = <D extends string | undefined>(fallback: D): Field<string | D> => ({
  fallback,
  read: (value, path) => {
    if (typeof value === 'string') return value
    throw wrong('a string', value, path)
  },
})

export const flag = <D extends boolean | undefined>(fallback: D): Field<boolean | D> => ({
  fallback,
  read: (value, path) => {
    if (typeof value === 'boolean') return value
    throw wrong('true or false', value, path)
  },
})

/** An object of fields of its own; absent it has their defaults. */
export const object = <F extends Fields>(fields: F): Field<Decoded<F>> => ({
  fallback: decodeParameters(undefined, fields),
  read: (value, path) => decodeParameters(value, fields, path),
})

/** An object that may be absent, which is not the same as empty. */
export const optionalObject = <F extends Fields>(fields: F): Field<Decoded<F> | undefined> => ({
  fallback: undefined,
  read: (value, path) => decodeParameters(value, fields, path),
})

/** A list whose items are read by one field. */
export const list = <T>(item: Field<T>): Field<readonly T[]> => ({
  fallback: [],
  read: (value, path) => {
    if (!Array.isArray(value)) throw wrong('a list', value, path)
    return value.map((entry, index) => (entry === null ? item.fallback : item.read(entry, [...path, String(index)])))
  },
})

/** Names to strings. */
export const textMap: Field<ReadonlyMap<string, string>> = {
  fallback: new Map(),
  read: (value, path) => {
    if (!isObject(value)) throw wrong('an object', value, path)
    const map = new Map<string, string>()
    for (const [name, entry] of Object.entries(value)) map.set(name, text('').read(entry, [...path, name]))
    return map
  },
}

/** Anything, taken as it is. */
export const anything: Field<unknown> = { fallback: undefined, read: (value) => value }

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `${typeof value} ${String(value)}`)

const wrong = (wanted: string, value: unknown, path: readonly string[]): ParameterError =>
  new ParameterError(`${path.at(-1) ?? 'value'} must be ${wanted}, got ${kindOf(value)}`, path)
