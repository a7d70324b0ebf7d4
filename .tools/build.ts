// Usage: node .tools/build.ts: compiles src and machines into dist, as JavaScript with declarations, and builds the visualizer's page into dist/page.
import { spawnSync } from 'node:child_process'
import { chmodSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildPage } from './page.ts'

const root = dirname(import.meta.dirname)
const dist = join(root, 'dist')

// tsc rewrites the extension in imports but not in the addresses of worker files.
const workerAddress = /(new URL\(\s*(['"])\.{1,2}\/[^'"]+)\.ts(\2,\s*import\.meta\.url\s*\))/g
const sourceAddress = /(['"])\.{1,2}\/[^'"\n]+\.ts\1/

function compile(): void {
  rmSync(dist, { recursive: true, force: true })
  const tsc = join(root, 'node_modules', 'typescript-native', 'bin', 'tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', join(root, '.config', 'tsconfig.build.json')], { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(1)
}

function pointWorkersAtJavaScript(): void {
  for (const file of globSync('**/*.js', { cwd: dist }).map((name) => join(dist, name))) {
    const text = readFileSync(file, 'utf8')
    const rewritten = text.replace(workerAddress, '$1.js$3')
    const left = sourceAddress.exec(rewritten)
    if (left !== null) {
      process.stderr.write(`${file}: still names the source file ${left[0]}\n`)
      process.exit(1)
    }
    if (rewritten !== text) writeFileSync(file, rewritten)
  }
}

compile()
pointWorkersAtJavaScript()
chmodSync(join(dist, 'src', 'cli', 'main.js'), 0o755)
await buildPage(join(dist, 'page'))
