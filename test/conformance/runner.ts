import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/**
 * Cases are data: `{ format, cases: [{ name, kind?, config, input, expected }] }` in test/conformance/vectors.
 * SIGNALBOX_VECTORS names another directory with files of the same names.
 */
const DIRECTORY = process.env['SIGNALBOX_VECTORS'] ?? join(import.meta.dirname, 'vectors')

export const DEFAULT_TOLERANCE = 1e-9

// A case is JSON of a form that its `format` text describes; each handler reads the fields of its own kind.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Data = any

export interface Case {
  readonly name: string
  readonly kind: string
  readonly config: Data
  readonly input: Data
  readonly expected: Data
  readonly tolerance: number
}

export type Handler = (vector: Case) => void

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
        handler(vector)
      })
    }
  })
}

const toCase = (data: Data): Case => ({
  name: data.name,
  kind: data.kind ?? NO_KIND,
  config: data.config ?? {},
  input: data.input ?? {},
  expected: data.expected,
  tolerance: data.tolerance ?? data.expected?.tolerance ?? DEFAULT_TOLERANCE,
})

const named = (cases: readonly Data[], name: string): Case => {
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
