import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { checkConfiguration } from '../../../src/config/check.ts'
import type { CheckRequest, CheckResult } from '../../../src/config/check.ts'
import { loadConfiguration } from '../../../src/config/load.ts'
import { pluginTypes } from '../../../src/plugins/index.ts'

const SAMPLES = join(import.meta.dirname, '../../data/configs')
const SAMPLE = join(SAMPLES, 'perf/random-only-default-parsers.yaml')
const folder = mkdtempSync(join(tmpdir(), 'signalbox-check-'))
afterAll(() => { rmSync(folder, { recursive: true }) })

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const check = (request: Partial<CheckRequest>): Promise<CheckResult> => checkConfiguration({ files: [], plugins: [], allowExperimental: false, json: false, ...request })

const OWN = `
const make = (type) => ({ type, kinds: ['filter'], stability: 'alpha', create: ({ name }) => ({ typedName: { type, name }, filter: (_, candidates) => candidates }) })
export const pluginTypes = [make('even-filter')]
`
const USES_OWN = 'apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n  - type: even-filter\n'

describe('checking a configuration', () => {
  it('prints a configuration that loads to the same', async () => {
    const { exitCode, output, diagnostics } = await check({ files: [SAMPLE] })
    expect([exitCode, diagnostics]).toEqual([0, ''])
    expect(output).toContain('# data: who produces what for whom\n')
    expect(output).toContain('  - type: single-profile-handler # added: one profile and no profile handler\n')
    const load = (text: string): unknown => loadConfiguration({ texts: [{ file: 'c', text }], pluginTypes }).completed
    const first = load(readFileSync(SAMPLE, 'utf8')) as { plugins: object[] }
    expect(load(output)).toEqual({ ...first, plugins: first.plugins.map((plugin) => ({ ...plugin, injected: undefined })) })
  })

  it('prints the built-in default when there is no file', async () => {
    const { exitCode, output } = await check({})
    expect(exitCode).toBe(0)
    expect(output).toContain('└─ approx-prefix-cache-producer\n')
  })

  it('prints it as JSON', async () => {
    const { exitCode, output } = await check({ files: [SAMPLE], json: true })
    expect(exitCode).toBe(0)
    expect(JSON.parse(output)).toMatchObject({
      completed: { profiles: [{ name: 'default', picker: 'random-picker' }] }, settings: { pool: 'epp' }, graph: { edges: [], notes: [] }, warnings: [],
      injections: { 'single-profile-handler': 'one profile and no profile handler' },
    })
  })

  it('tells each error with its place, and exits with 1', async () => {
    const wrong = file('wrong.yaml', USES_OWN.replace('even-filter', 'decode-filtr'))
    const text = await check({ files: [wrong] })
    expect([text.exitCode, text.output]).toEqual([1, ''])
    expect(text.diagnostics).toContain(`unknown plugin type \`decode-filtr\`; did you mean \`decode-filter\`? (${wrong}:4:11)\n`)
    const json = await check({ files: [wrong], json: true })
    expect(json.exitCode).toBe(1)
    expect(JSON.parse(json.output)).toMatchObject({ errors: [{ code: 'config-unknown-plugin', place: { file: wrong, line: 4, column: 11 } }] })
  })

  it('tells warnings apart from what it prints', async () => {
    const old = file('old.yaml', readFileSync(SAMPLE, 'utf8').replace('llm-d.ai/v1alpha1', 'inference.networking.x-k8s.io/v1alpha1'))
    expect(await check({ files: [old] })).toMatchObject({ exitCode: 0, diagnostics: expect.stringMatching(/^warning: apiVersion .* is deprecated; .*old\.yaml:1:13\)\n$/) as string })
  })

  it('takes plugin types of the user\'s own', async () => {
    const plugins = [file('own.mjs', OWN)]
    const files = [file('uses-own.yaml', USES_OWN)]
    expect(await check({ files })).toMatchObject({ exitCode: 1, diagnostics: expect.stringContaining('unknown plugin type `even-filter`') as string })
    expect(await check({ files, plugins })).toMatchObject({ exitCode: 1, diagnostics: expect.stringContaining('is experimental (alpha)') as string })
    expect(await check({ files, plugins, allowExperimental: true })).toMatchObject({ exitCode: 0, output: expect.stringContaining('- pluginRef: even-filter\n') as string })
  })

  it.each([
    ['a file that is not there', { files: ['nowhere.yaml'] }, /cannot read the configuration: ENOENT.*\(nowhere\.yaml\)/],
    ['a module that is not there', { plugins: ['nowhere.mjs'] }, /cannot load the plugins: .*\(nowhere\.mjs\)/],
    ['a module without plugin types', { plugins: [file('none.mjs', 'export const x = 1\n')] }, /exports no list `pluginTypes`/],
    ['a module with what is none', { plugins: [file('bad.mjs', 'export const pluginTypes = [{ type: "a" }]\n')] }, /holds what is no plugin type/],
  ])('exits with 2 for %s', async (_, request, told) => {
    const { exitCode, diagnostics } = await check(request)
    expect(exitCode).toBe(2)
    expect(diagnostics).toMatch(told)
    expect(JSON.parse((await check({ ...request, json: true })).output)).toMatchObject({ errors: [{ code: 'usage' }] })
  })
})

describe('the command check-config', () => {
  const command = pathToFileURL(join(import.meta.dirname, '../../../src/cli/check-config.ts')).href
  const run = (...argv: readonly string[]): Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const script = `import { checkConfigCommand } from '${command}'; await checkConfigCommand().parseAsync(process.argv.slice(1), { from: 'user' })`
      execFile(process.execPath, ['--input-type=module', '-e', script, '--', ...argv], (error, stdout, stderr) => { resolve({ code: error === null ? 0 : error.code, stdout, stderr }) })
    })

  it('prints to the right places with the right exit code', async () => {
    const own = file('cli-own.mjs', OWN)
    const [right, wrong, none, ownTypes] = await Promise.all([
      run(SAMPLE, '--json'), run(file('cli-wrong.yaml', 'kind: Nothing\n')), run('nowhere.yaml'),
      run(file('cli-own.yaml', USES_OWN), '--plugins', own, '--allow-experimental-plugins'),
    ])
    expect(right.code).toBe(0)
    expect(JSON.parse(right.stdout)).toHaveProperty('completed')
    expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('unknown kind `Nothing`') as string })
    expect(none).toMatchObject({ code: 2, stdout: '' })
    expect(ownTypes).toMatchObject({ code: 0, stderr: '' })
  })
})
