import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

const CODE = `export async function later(): Promise<number> { return 1 }
export async function checked(word: 'a' | 'b', numbers: number[]): Promise<void> {
  later()
  if (later()) numbers.sort()
  numbers.forEach(async () => { await later() })
  await 3
  switch (word) { case 'a': break }
  ;['a'].sort()
  await later()
}
`

describe('the linter that knows the types', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-lint-'))
    writeFileSync(join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true, "target": "esnext" } }\n')
    writeFileSync(join(folder, 'code.ts'), CODE)
  })
  afterAll(() => { rmSync(folder, { recursive: true }) })

  it('refuses promises that nobody waits for, and what is sorted or told apart by half', () => {
    const linter = [join(root, 'node_modules/oxlint/bin/oxlint'), '-c', join(root, '.config/oxlint.json'), '--type-aware', '--format', 'json', folder]
    const { stdout, status } = spawnSync(process.execPath, linter, { encoding: 'utf8', cwd: root })
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: readonly { code: string; labels: readonly { span: { line: number } }[] }[] }
    const found = diagnostics.map(({ code, labels }) => `${labels[0]?.span.line} ${/\(([\w-]+)\)/.exec(code)?.[1]}`)
    expect(found.sort()).toEqual([
      '3 no-floating-promises', '4 no-misused-promises', '4 require-array-sort-compare', '5 no-misused-promises', '6 await-thenable', '7 switch-exhaustiveness-check',
    ])
    expect(status).toBe(1)
  })
})
