import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

interface Verdict {
  readonly lines: readonly string[]
  readonly status: number | null
}

/** Runs the check over a project with the given files and dependencies; the lines it prints and its exit code. */
function checked(files: Readonly<Record<string, string>>, dependencies: readonly string[]): Verdict {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-layers-'))
  try {
    const manifest = { dependencies: Object.fromEntries(dependencies.map((name) => [name, '*'])), devDependencies: { vitest: '*' } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), `${text}\n`)
    }
    const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, '.tools', 'layers.ts'), folder], { encoding: 'utf8' })
    return { lines: `${stdout}${stderr}`.trimEnd().split('\n'), status }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const value = 'export const value = 1\nexport type Value = number'
const uses = (...from: readonly string[]): string => from.map((path) => `import '${path}'`).join('\n')

const forbiddenFiles = [
  ['a layer above', 'src/core/a1.ts', '../engine/b1.ts', 'src/core may not import it'],
  ['an adapter from the engine', 'src/engine/a2.ts', '../adapters/nats/b2.ts', 'src/engine may not import it'],
  ['the composition root from a plugin', 'src/plugins/a3.ts', '../app/b3.ts', 'src/plugins may not import it'],
  ['an adapter from the visualizer', 'src/visualizer/a4.ts', '../adapters/nats/b4.ts', 'src/visualizer may not import it'],
  ['the engine from the simulation', 'src/simulation/a5.ts', '../engine/b5.ts', 'src/simulation may not import it'],
  ['one adapter from another', 'src/adapters/nats/a6.ts', '../sqlite/b6.ts', 'adapters do not know each other'],
  ['more than types of the plugins from the engine', 'src/engine/a7.ts', '../plugins/b7.ts', 'src/engine may import only types from it'],
] as const

const forbiddenModules = [
  ['src/core/a10.ts', 'node:fs', 'src/core may not import Node.js modules'],
  ['src/replay/a11.ts', 'fs', 'src/replay may not import Node.js modules'],
  ['src/plugins/a12.ts', 'xstate', 'src/plugins may not import the library xstate'],
  ['src/engine/a13.ts', 'rxjs', 'src/engine may not import the library rxjs'],
  ['src/app/a14.ts', 'vitest', 'vitest is a development dependency'],
  ['src/app/a15.ts', 'nowhere', 'cannot be resolved'],
  ['src/app/a16.ts', './nowhere.ts', 'cannot be resolved'],
] as const

describe('the import rules', () => {
  let verdict: Verdict

  beforeAll(() => {
    const files = {
      ...Object.fromEntries(forbiddenFiles.map(([, from, to]) => [from, uses(to)])),
      ...Object.fromEntries(forbiddenFiles.map(([, from, to]) => [join(dirname(from), to), value])),
      ...Object.fromEntries(forbiddenModules.map(([from, name]) => [from, uses(name)])),
      'src/adapters/http/a20.ts': uses('undici', './b20.ts'),
      'src/adapters/http/b20.ts': uses('prom-client', 'node:http'),
      'src/core/a30.ts': uses('./b30.ts'),
      'src/core/b30.ts': uses('./c30.ts'),
      'src/core/c30.ts': uses('./a30.ts'),
      'src/elsewhere/a40.ts': value,
    }
    verdict = checked(files, ['rxjs', 'undici', 'prom-client', 'xstate', 'yaml'])
  })

  it.each(forbiddenFiles)('refuse %s', (_, from, to, fault) => {
    expect(verdict.lines).toContain(`${from} > ${join(dirname(from), to)}: ${fault}`)
  })

  it.each(forbiddenModules)('refuse in %s the import of %s', (from, _, fault) => {
    expect(verdict.lines.filter((line) => line.startsWith(`${from} > `) && line.endsWith(`: ${fault}`))).toHaveLength(1)
  })

  it('refuse a second outside library in one adapter', () => {
    expect(verdict.lines).toContain('src/adapters/http: has more than one outside library: prom-client, undici')
  })

  it('refuse a circle', () => {
    expect(verdict.lines).toContain('src/core/a30.ts > src/core/b30.ts > src/core/c30.ts > src/core/a30.ts: a circle of imports')
  })

  it('refuse a folder that is in no layer', () => {
    expect(verdict.lines).toContain('src/elsewhere/a40.ts: belongs to no layer of .config/layers.ts')
  })

  it('refuse a dependency that no source imports', () => {
    expect(verdict.lines).toContain('package.json: yaml is a dependency, but no source imports it')
  })

  it('count what they refuse, once each, and fail', () => {
    const refused = forbiddenFiles.length + forbiddenModules.length + 4
    expect(verdict.lines).toHaveLength(refused + 1)
    expect(verdict.lines.at(-1)).toBe(`layers: ${refused} forbidden`)
    expect(verdict.status).toBe(1)
  })

  it('let allowed imports be', () => {
    const files = {
      'src/core/order.ts': value,
      'src/plugins/index.ts': `${uses('../core/order.ts')}\n${value}`,
      'src/engine/turn.ts': "import type { Value } from '../plugins/index.ts'\nexport type X = Value",
      'machines/request/machine.ts': uses('xstate', '../../src/core/order.ts'),
      'src/actors/inbox.ts': uses('rxjs', '../engine/turn.ts', '../../machines/request/machine.ts'),
      'src/adapters/metrics-scrape/scrape.ts': uses('undici', 'node:net', '../../core/order.ts'),
      'src/app/index.ts': uses('../actors/inbox.ts', '../adapters/metrics-scrape/scrape.ts'),
    }
    expect(checked(files, ['rxjs', 'undici', 'xstate'])).toEqual({ lines: ['layers: every import is allowed'], status: 0 })
  })

  it('fail when there is nothing to check', () => {
    const { lines, status } = checked({}, [])
    expect(lines.join('\n')).toContain('no modules under')
    expect(status).toBe(1)
  })
})
