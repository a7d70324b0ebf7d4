import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/**
 * Cases are data: `{ format, cases: [{ name, kind?, config, input, expected }] }` in test/conformance/vectors.
 * SIGNALBOX_VECTORS names another directory with files of the same names.
 */
const DIRECTORY = process.env['SIGNALBOX_VECTORS'] ?? join(import.meta.dirname, 'vectors')

const DEFAULT_TOLERANCE = 1e-9

/** A case is JSON of a form that the file's `format` text describes; a handler names the fields it reads. */
export interface Case<Config = unknown, Input = unknown, Expected = unknown> {
  readonly name: string
  readonly kind: string
  readonly config: Config
  readonly input: Input
  readonly expected: Expected
  readonly tolerance: number
}

/** Takes a `Case` of any types: those of its kind. */
export type Handler = (vector: Case<never, never, never>) => void | Promise<void>

interface Data {
  readonly name: string
  readonly kind?: string
  /** Another name of the kind. */
  readonly op?: string
  readonly config?: unknown
  readonly input?: unknown
  readonly expected: unknown
  readonly tolerance?: number
}

/** A case where this project does otherwise on purpose: what is asserted instead of what the file says. */
export interface Difference {
  /** Why, in one sentence. */
  readonly because: string
  readonly instead: Handler
}

/** Cases without a kind have this one. */
export const NO_KIND = 'case'

/** Makes one test of each case of a file. A kind that has no handler fails, as does a difference whose case is not there. */
export const forEachCase = (
  file: string,
  handlers: Readonly<Record<string, Handler>>,
  differences: Readonly<Record<string, Difference>> = {},
): void => {
  const { cases } = JSON.parse(readFileSync(join(DIRECTORY, file), 'utf8')) as { readonly cases: readonly Data[] }
  describe(`conformance: ${file}`, () => {
    it('has cases', () => expect(cases.length).toBeGreaterThan(0))
    for (const [name, difference] of Object.entries(differences)) {
      // Another directory may hold another selection of the cases.
      if (process.env['SIGNALBOX_VECTORS'] === undefined || cases.some((data) => data.name === name)) {
        it(`${name} (differs: ${difference.because})`, () => difference.instead(named(cases, name)))
      }
    }
    for (const data of cases) {
      if (Object.hasOwn(differences, data.name)) continue
      const vector = toCase(data)
      it(`[${vector.kind}] ${vector.name}`, () => {
        const handler = Object.hasOwn(handlers, vector.kind) ? handlers[vector.kind] : undefined
        if (handler === undefined) throw new Error(`no handler for kind "${vector.kind}"`)
        return handler(vector)
      })
    }
  })
}

const toCase = (data: Data): Case<never, never, never> => ({
  name: data.name,
  kind: data.kind ?? data.op ?? NO_KIND,
  config: (data.config ?? {}) as never,
  input: (data.input ?? {}) as never,
  expected: data.expected as never,
  tolerance: data.tolerance ?? toleranceOf(data.expected),
})

const toleranceOf = (expected: unknown): number =>
  (expected as { readonly tolerance?: number } | null | undefined)?.tolerance ?? DEFAULT_TOLERANCE

const named = (cases: readonly Data[], name: string): Case<never, never, never> => {
  const data = cases.find((one) => one.name === name)
  if (data === undefined) throw new Error(`the file has no case "${name}"`)
  return toCase(data)
}

/**
 * Asserts that `actual` is as `expected` wants it: numbers within the tolerance, lists item by item, objects field by
 * field, where a field that `expected` lacks is not looked at.
 */
export const expectMatch = (actual: unknown, expected: unknown, tolerance: number = DEFAULT_TOLERANCE, path = 'value'): void => {
  if (typeof expected === 'number') {
    expect(typeof actual, `${path}: ${String(actual)} is not a number`).toBe('number')
    expect(Math.abs((actual as number) - expected), `${path}: ${String(actual)} instead of ${expected}`).toBeLessThanOrEqual(tolerance)
  } else if (Array.isArray(expected)) {
    expect(Array.isArray(actual), `${path} is not a list`).toBe(true)
    const items = actual as readonly unknown[]
    expect(items.length, `length of ${path}`).toBe(expected.length)
    expected.forEach((item, index) => expectMatch(items[index], item, tolerance, `${path}[${index}]`))
  } else if (typeof expected === 'object' && expected !== null) {
    expect(typeof actual === 'object' && actual !== null, `${path} is not an object`).toBe(true)
    for (const [name, value] of Object.entries(expected)) {
      expectMatch((actual as Record<string, unknown>)[name], value, tolerance, `${path}.${name}`)
    }
  } else {
    expect(actual, path).toBe(expected)
  }
}

/** Runs what should fail and gives back its message. */
export const messageOf = (run: () => unknown): string => {
  try {
    run()
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
  throw new Error('expected an error, and there was none')
}
