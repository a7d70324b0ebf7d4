import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs the check over a project with the given files; the lines it prints and its exit code. */
function checked(files: Readonly<Record<string, string>>): { lines: readonly string[]; status: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-layers-'))
  try {
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
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

describe('the import rules', () => {
  it('let allowed imports be', () => {
    expect(
      checked({
        'src/core/order.ts': value,
        'src/plugins/index.ts': uses('../core/order.ts'),
        'src/engine/turn.ts': "import type { Value } from '../plugins/index.ts'\nexport type X = Value",
        'machines/request/machine.ts': uses('xstate', '../../src/core/order.ts'),
        'src/actors/inbox.ts': uses('rxjs', '../engine/turn.ts', '../../machines/request/machine.ts'),
        'src/adapters/metrics-scrape/scrape.ts': uses('undici', 'node:net', '../../core/order.ts'),
        'src/app/index.ts': uses('../actors/inbox.ts', '../adapters/metrics-scrape/scrape.ts'),
      }),
    ).toEqual({ lines: ['layers: every import is allowed'], status: 0 })
  })

  it.each([
    ['a layer above', 'src/core/a.ts', '../engine/b.ts', 'src/core may not import it'],
    ['an adapter from the engine', 'src/engine/a.ts', '../adapters/nats/b.ts', 'src/engine may not import it'],
    ['the composition root from a plugin', 'src/plugins/a.ts', '../app/b.ts', 'src/plugins may not import it'],
    ['an adapter from the visualizer', 'src/visualizer/a.ts', '../adapters/http/b.ts', 'src/visualizer may not import it'],
    ['the engine from the simulation', 'src/simulation/a.ts', '../engine/b.ts', 'src/simulation may not import it'],
    ['another adapter', 'src/adapters/nats/a.ts', '../sqlite/b.ts', 'adapters do not know each other'],
    ['more than types of the plugins from the engine', 'src/engine/a.ts', '../plugins/b.ts', 'src/engine may import only types from it'],
  ])('refuse %s', (_, from, to, fault) => {
    const target = join(dirname(from), to)
    const { lines, status } = checked({ [from]: uses(to), [target]: value })
    expect(lines).toContain(`${from} > ${target}: ${fault}`)
    expect(status).toBe(1)
  })

  it.each([
    ['src/core', 'node:fs', 'src/core may not import Node.js modules'],
    ['src/replay', 'fs', 'src/replay may not import Node.js modules'],
    ['src/plugins', 'xstate', 'src/plugins may not import the library xstate'],
    ['src/engine', 'rxjs', 'src/engine may not import the library rxjs'],
    ['src/app', 'vitest', 'vitest is a development dependency'],
    ['src/app', 'nowhere', 'cannot be resolved'],
    ['src/app', './nowhere.ts', 'cannot be resolved'],
  ])('refuse in %s the import of %s', (folder, name, fault) => {
    const { lines, status } = checked({ [`${folder}/a.ts`]: uses(name) })
    expect(lines.filter((line) => line.startsWith(`${folder}/a.ts > `) && line.endsWith(`: ${fault}`))).toHaveLength(1)
    expect(status).toBe(1)
  })

  it('refuse a second outside library in one adapter', () => {
    const { lines } = checked({ 'src/adapters/http/a.ts': uses('undici', './b.ts'), 'src/adapters/http/b.ts': uses('prom-client', 'node:http') })
    expect(lines).toContain('src/adapters/http: has more than one outside library: prom-client, undici')
  })

  it('refuse a circle', () => {
    const { lines } = checked({ 'src/core/a.ts': uses('./b.ts'), 'src/core/b.ts': uses('./c.ts'), 'src/core/c.ts': uses('./a.ts') })
    expect(lines).toContain('src/core/a.ts > src/core/b.ts > src/core/c.ts > src/core/a.ts: a circle of imports')
  })

  it('refuse a folder that is in no layer', () => {
    const { lines } = checked({ 'src/elsewhere/a.ts': value })
    expect(lines).toContain('src/elsewhere/a.ts: belongs to no layer of .config/layers.ts')
  })

  it('fail when there is nothing to check', () => {
    const { lines, status } = checked({})
    expect(lines.join('\n')).toContain('no modules under')
    expect(status).toBe(1)
  })
})
