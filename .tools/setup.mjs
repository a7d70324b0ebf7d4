// Prepares a fresh clone: Node.js 24, the locked dependencies and, for tests, the programs they start.
// Plain JavaScript without dependencies, because it runs first, on whatever Node.js (20 or newer) the machine has.
// Everything it prints goes to stderr, so that the stdout of the command behind it stays clean.
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { constants as osConstants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24 // node:sqlite, type stripping without a flag

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The programs that tests start, with the Debian package that brings each. */
export const programs = [
  { binary: 'chromium', debianPackage: 'chromium', neededBy: 'test/ui, which uses the visualizer in it' },
  { binary: 'curl', debianPackage: 'curl', neededBy: 'test/e2e, which runs the printed curl lines' },
  { binary: 'nats-server', debianPackage: 'nats-server', neededBy: 'test/integration/nats and test/faults, which run a real broker' },
]

/**
 * Makes the clone ready and returns how to run something in it.
 * @param {{ tests?: boolean }} [wanted] `tests`: the programs the tests start are needed too.
 * @returns {{ node: string, env: NodeJS.ProcessEnv }} the path of a Node.js 24 or newer and an environment whose PATH finds it first.
 */
export function prepare(wanted = {}) {
  const node = ensureNode()
  const env = {
    // Types are stripped and code is compiled once per file and not once per process: commands start in half the time.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`,
  }
  ensureDependencies(env)
  if (wanted.tests === true) ensurePrograms()
  return { node, env }
}

/**
 * Runs Node.js with the given arguments in place of this process: same streams, same signals, same exit code.
 * @param {{ node: string, env: NodeJS.ProcessEnv }} ready
 * @param {string[]} args
 */
export function become(ready, args) {
  const child = spawn(ready.node, args, { env: ready.env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`cannot start ${ready.node}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + osConstants.signals[signal]))
}

function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) return process.execPath
  const folder = join(root, '.tools', 'node24')
  const node = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (!isLocked(folder)) {
    say(`Node.js ${process.versions.node} is older than ${NODE_MAJOR_MIN}: installing Node.js ${NODE_MAJOR_MIN} into .tools/node24`)
    npm(['ci'], folder, process.env)
  }
  if (existsSync(node)) return node
  fail(`Node.js ${NODE_MAJOR_MIN} or newer is needed and cannot be installed from here on ${process.platform} ${process.arch}: install it, then run this again`)
}

function ensureDependencies(env) {
  if (isLocked(root)) return
  say('installing the dependencies at the state of package-lock.json')
  npm(['ci'], root, env)
}

function ensurePrograms() {
  const missing = programs.filter((program) => !isOnPath(program.binary))
  if (missing.length === 0) return
  const packages = missing.map((program) => program.debianPackage)
  const list = missing.map((program) => `  ${program.binary} (Debian: ${program.debianPackage}), for ${program.neededBy}`).join('\n')
  if (process.getuid?.() !== 0 || !isOnPath('apt-get')) {
    fail(`the tests need programs that this machine does not have; install them, then run this again:\n${list}`)
  }
  say(`installing what the tests need:\n${list}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  run('apt-get', ['update', '-qq'], root, env)
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], root, env)
  const still = missing.find((program) => !isOnPath(program.binary))
  if (still !== undefined) fail(`the Debian package ${still.debianPackage} brought no ${still.binary}; install it, then run this again`)
}

/** Whether the folder's node_modules holds what its package-lock.json says; packages for other platforms may be absent. */
function isLocked(folder) {
  const locked = packagesOf(join(folder, 'package-lock.json'))
  const installed = packagesOf(join(folder, 'node_modules', '.package-lock.json'))
  if (locked === undefined || installed === undefined) return false
  const same = (path) => locked[path]?.version === installed[path]?.version && locked[path]?.integrity === installed[path]?.integrity
  const wanted = Object.keys(locked).filter((path) => path !== '' && (path in installed || locked[path].optional !== true))
  return wanted.every(same) && Object.keys(installed).every((path) => path in locked)
}

function packagesOf(lockFile) {
  return existsSync(lockFile) ? JSON.parse(readFileSync(lockFile, 'utf8')).packages : undefined
}

function isOnPath(binary) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, binary)))
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function npm(args, cwd, env) {
  run('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], cwd, env)
}

function run(command, args, cwd, env) {
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ['ignore', 2, 2] })
  if (error !== undefined) fail(`cannot start ${command}: ${error.message}`)
  if (status !== 0) fail(`${command} ${args.join(' ')} ended with ${status}`)
}

function say(text) {
  process.stderr.write(`signalbox: ${text}\n`)
}

function fail(text) {
  say(text)
  process.exit(1)
}
