import { fileURLToPath } from 'node:url'
import { ESLint } from 'eslint'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const eslint = new ESLint({
  cwd: root,
  overrideConfigFile: '.config/eslint.config.js',
  // The snippets are no files of the project, so rules that ask the type checker cannot judge them.
})

async function refusals(code: string, filePath = 'src/core/snippet.ts'): Promise<readonly string[]> {
  const results = await eslint.lintText(`${code}\n`, { filePath: `${root}${filePath}` })
  return results.flatMap((result) => result.messages).map(({ ruleId, severity, message }) => `${severity === 2 ? 'error' : 'warning'} ${ruleId ?? message}`)
}

const global = 'error no-restricted-globals'
const property = 'error no-restricted-properties'
const syntax = 'error no-restricted-syntax'

const bannedMath = [
  'random', 'pow', 'exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2',
  'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh', 'hypot', 'cbrt',
]

const banned: readonly (readonly [code: string, rule: string])[] = [
  ...bannedMath.map((name) => [`export const x = Math.${name}(1, 2)`, property] as const),
  ["export const x = Math['pow'](1, 2)", property],
  ['const { random } = Math; export const x = random()', property],
  ['const m = Math; export const x = m.pow(2, 3)', syntax],
  ["const name = 'p' + 'ow'; export const x = Math[name as 'pow'](2, 3)", syntax],
  ['export const x = (a: number, b: number) => a ** b', syntax],
  ['export const x = (a: number) => a ** 0.5', syntax],
  ['export const x = (a: number) => a ** -1', syntax],
  ['export let x = 2; x **= 0.5', syntax],
  ['export const x = Date.now()', global],
  ['export const x = new Date()', global],
  ['export const x = performance.now()', global],
  ['setTimeout(() => {}, 1)', global],
  ['setInterval(() => {}, 1)', global],
  ['setImmediate(() => {})', global],
  ['queueMicrotask(() => {})', global],
  ['export const x = new Promise(() => {})', global],
  ['export const x = Promise.resolve(1)', global],
  ['export async function x() {}', syntax],
  ['export const x = async () => {}', syntax],
  ['export class X { async x() {} }', syntax],
  ["export const x = import('./y.ts')", syntax],
  ['export const x = import.meta.url', syntax],
  ["console.log('x')", global],
  ['export const x = process.env', global],
  ['export const x = Buffer.alloc(1)', global],
  ["export const x = fetch('x')", global],
  ['export const x = crypto.randomUUID()', global],
  ['export const x = new Intl.Collator()', global],
  ["export const x = 'a'.localeCompare('b')", property],
  ["export const x = 'a'['localeCompare']('b')", property],
  ['export const x = (1.5).toLocaleString()', property],
  ["export const x = 'I'.toLocaleLowerCase()", property],
  ['export const x = new WeakRef({})', global],
  ['export const x = globalThis', global],
  ["export const x = eval('1')", global],
  ["export const x = new Function('return 1')", global],
  ["import { readFileSync } from 'node:fs'; export const x = readFileSync", syntax],
]

const pureFolders = [
  'machines/request', 'src/core', 'src/scheduling', 'src/plugins/filter/x', 'src/aibrix', 'src/engine', 'src/journal', 'src/replay', 'src/wire',
]

describe('the linter of the pure set', () => {
  it.each(banned)('refuses `%s`', async (code, rule) => {
    expect(await refusals(code)).toContain(rule)
  })

  it.each(pureFolders)('holds in %s', async (folder) => {
    expect(await refusals('export const x = Date.now() ** Math.random()', `${folder}/snippet.ts`)).toEqual([global, syntax, property])
  })

  it('cannot be lifted by a comment', async () => {
    expect(await refusals('// eslint-disable-next-line\nexport const x = Date.now()')).toContain(global)
  })

  it.each([
    'export const x = (a: number) => a ** 2 + 10 ** 3 + Math.sqrt(a) + Math.floor(a)',
    'export const x = 2n ** 64n',
    'export const x = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)',
    'export interface X { date: string; process(): void; random: number }',
    'export const x = Math.imul(3, 5) + Math.max(1, 2)',
  ])('lets `%s` be', async (code) => {
    expect(await refusals(code)).toEqual([])
  })

  it('leaves the outside its clock', async () => {
    expect(await refusals('export const x = async () => Date.now() + Math.random()', 'src/app/snippet.ts')).toEqual([])
  })
})

describe('the linter of the whole house', () => {
  it.each([
    ['enums', 'export enum X { A }', syntax],
    ['namespaces', 'export namespace X { export const a = 1 }', syntax],
    ['parameter properties', 'export class X { constructor(readonly a: number) {} }', syntax],
    ['default exports', 'export default 1', syntax],
    ['default exports by renaming', 'const a = 1; export { a as default }', syntax],
    ['any', 'export const x: any = 1', 'error @typescript-eslint/no-explicit-any'],
    ['comments that silence the type checker', '// @ts-ignore\nexport const x = 1', 'error @typescript-eslint/ban-ts-comment'],
    ['types imported as values', "import { X } from './x.ts'; export const x: X = 1", 'error @typescript-eslint/consistent-type-imports'],
  ])('refuses %s', async (_, code, rule) => {
    expect(await refusals(code, 'src/app/snippet.ts')).toContain(rule)
  })

  it.each(['src/app/utils.ts', 'src/app/helpers/x.ts', 'src/app/session-manager.ts', 'src/app/base.ts', 'src/app/CamelCase.ts', 'src/app/snake_case.ts'])(
    'refuses the name %s',
    async (path) => {
      expect(await refusals('export const x = 1', path)).toEqual(['error house/path'])
    },
  )

  it.each(['src/journal/base.ts', 'src/core/base64url.ts', 'src/app/index.ts', 'test/unit/core/order.test.ts'])('accepts the name %s', async (path) => {
    expect(await refusals('export const x = 1', path)).toEqual([])
  })

  it('warns of a file above 300 lines and refuses one above 400', async () => {
    const lines = (count: number): string => Array.from({ length: count }, (_, line) => `export const x${line} = ${line}`).join('\n')
    expect(await refusals(lines(300), 'src/app/snippet.ts')).toEqual([])
    expect(await refusals(lines(301), 'src/app/snippet.ts')).toEqual(['warning house/long-file'])
    expect(await refusals(lines(401), 'src/app/snippet.ts')).toContain('error max-lines')
  })

  it.each(['it', 'test', 'describe'])('refuses a test that is left out with %s.skip', async (word) => {
    expect(await refusals(`import { ${word} } from 'vitest'; ${word}.skip('x', () => {})`, 'test/unit/x.test.ts')).toEqual([property])
  })
})
