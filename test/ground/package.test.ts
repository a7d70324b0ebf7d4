import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Manifest {
  readonly name: string
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
  readonly dependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
const modules = Object.entries(manifest.exports).flatMap(([key, target]) => (typeof target === 'string' ? [] : [{ key, specifier: specifierOf(key), target }]))
const patterns = Object.entries(manifest.exports).flatMap(([key, target]) => (typeof target === 'string' && key.includes('*') ? [{ key, target }] : []))

function specifierOf(key: string): string {
  return manifest.name + key.slice(1)
}

const minutes = 60_000

describe('the published package, installed elsewhere', { timeout: minutes }, () => {
  let user: string
  let installed: string
  let packed: readonly string[]

  const node = (code: string): string => execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: user, encoding: 'utf8' }).trim()

  beforeAll(() => {
    user = mkdtempSync(join(tmpdir(), 'signalbox-package-'))
    installed = join(user, 'node_modules', manifest.name)
    const report = execFileSync('npm', ['pack', '--json', '--pack-destination', user], { cwd: root, encoding: 'utf8' })
    const [pack] = JSON.parse(report.slice(report.indexOf('['))) as { filename: string; files: { path: string }[] }[]
    if (pack === undefined) throw new Error(`npm pack reports nothing: ${report}`)
    packed = pack.files.map(({ path }) => path)
    writeFileSync(join(user, 'package.json'), '{ "private": true, "type": "module" }\n')
    execFileSync('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${pack.filename}`], { cwd: user, stdio: 'pipe' })
  }, 5 * minutes)

  afterAll(() => {
    rmSync(user, { recursive: true })
  })

  it('holds what runs, the schemas and the papers, and nothing else', () => {
    const expected = /^(dist\/(src|machines)\/.+\.(js|d\.ts|json)|dist\/page\/.+\.(js|css|html|svg)|schemas\/.+\.proto|deploy\/(README\.md|config\/.+\.yaml)|LICENSE|README\.md|package\.json)$/
    expect(packed.filter((path) => !expected.test(path))).toEqual([])
    expect(packed).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json', ...Object.values(manifest.bin)]))
  })

  it('pins what it depends on', () => {
    for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  })

  it.each(modules)('exports $key', ({ specifier }) => {
    expect(JSON.parse(node(`console.log(JSON.stringify(Object.keys(await import('${specifier}'))))`))).not.toEqual([])
  })

  it.each(patterns)('exports each file of $key', ({ key, target }) => {
    const [before = '', after = ''] = target.split('*')
    const files = globSync(`${before}**/*${after}`, { cwd: installed }).filter((path) => /\.\w+$/.test(path))
    expect(files).not.toEqual([])
    const specifiers = files.map((file) => specifierOf(key.replace('*', file.slice(before.length - 2))))
    const resolved = node(`for (const name of ${JSON.stringify(specifiers)}) console.log(import.meta.resolve(name))`).split('\n')
    expect(resolved).toHaveLength(specifiers.length)
    expect(resolved.map((address) => fileURLToPath(address)).filter((path) => !existsSync(path))).toEqual([])
  })

  it('is typed: a strict program that uses every export compiles, without errors in the declarations', () => {
    const uses = modules.map(({ specifier }, index) => `import * as module${index} from '${specifier}'\nexport const names${index}: PropertyKey[] = Reflect.ownKeys(module${index})`)
    writeFileSync(join(user, 'use.ts'), `${uses.join('\n')}\n`)
    const options = { strict: true, noEmit: true, module: 'nodenext', target: 'es2024', lib: ['es2025', 'esnext.disposable'], types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] }
    writeFileSync(join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['use.ts'] }))
    const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules', 'typescript-native', 'bin', 'tsc'), '-p', user, '--pretty', 'false'], { cwd: user, encoding: 'utf8' })
    // Errors inside of other packages' declarations are theirs.
    expect(stdout.split('\n').filter((line) => line.startsWith(`node_modules/${manifest.name}/`) || line.startsWith('use.ts') || line.startsWith('error'))).toEqual([])
  })

  it.each(Object.keys(manifest.bin))('brings the command %s', (name) => {
    const { stdout, stderr, status } = spawnSync(join(user, 'node_modules', '.bin', name), ['--help'], { cwd: user, encoding: 'utf8' })
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout).toContain(`Usage: ${name}`)
  })
})
