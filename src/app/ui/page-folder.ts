import { spawn } from 'node:child_process'
import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createHash, randomUUID } from 'node:crypto'
import { SignalboxError } from '../../core/errors.ts'
import { PACKAGE_ROOT } from '../package-root.ts'

const BUILT = new URL('dist/page/', PACKAGE_ROOT)
const CACHE = new URL('node_modules/.cache/signalbox/', PACKAGE_ROOT)

/**
 * The folder that holds the built page. A package brings it; a clone builds it when it is first asked for, and again
 * when a source changed. Throws SignalboxError usage when it cannot be built.
 */
export const pageFolder = (): Promise<string> => {
  found ??= findOrBuild().catch((error: unknown) => {
    found = undefined
    throw error
  })
  return found
}

/** Once for the life of the process: a page whose files came from two builds would not work. */
let found: Promise<string> | undefined = undefined

const findOrBuild = async (): Promise<string> => {
  if (import.meta.url.startsWith(new URL('dist/', PACKAGE_ROOT).href)) return fileURLToPath(BUILT)
  const folder = fileURLToPath(new URL(`page-${fingerprint()}/`, CACHE))
  if (existsSync(folder)) return folder
  const partial = fileURLToPath(new URL(`partial-${randomUUID()}/`, CACHE))
  await build(partial)
  try {
    renameSync(partial, folder)
  } catch (error) {
    // Somebody else was quicker.
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** Changes with every source that the page may be built from. */
const fingerprint = (): string => {
  const root = fileURLToPath(PACKAGE_ROOT)
  const hash = createHash('sha256')
  for (const file of globSync(['src/{core,machines,scheduling,plugins,aibrix,engine,journal,replay,wire,config,visualizer}/**/*.{ts,tsx,css,html,svg}', 'machines/**/*.ts', '.tools/{page,machine-drawing}.ts', 'package-lock.json'], { cwd: root }).sort()) {
    const { mtimeMs, size } = statSync(new URL(file, PACKAGE_ROOT))
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

const build = (folder: string): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const child = spawn(process.execPath, [fileURLToPath(new URL('.tools/page.ts', PACKAGE_ROOT)), folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  child.on('error', reject)
  child.on('close', (code) => {
    if (code === 0) resolve()
    else reject(new SignalboxError('usage', `the page cannot be built: ${said.trim().slice(-2000)}`))
  })
  return promise
}
