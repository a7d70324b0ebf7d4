import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { endPool } from '../story/pool.ts'
import { MAIN, temporaryFolder } from '../story/server.ts'

const ROOT = join(import.meta.dirname, '../..')
const SPEED = '20'
/** Where the documents say that things are. */
const FRONT = '127.0.0.1:8080'
const ADMIN = '127.0.0.1:9090'

interface Ended { readonly code: number | null; readonly out: string }
interface Running { readonly pid: number; readonly greeting: string; end(signal: NodeJS.Signals): Promise<number | null> }

/**
 * A folder that looks like a clone to the commands of the documents, which run in it as they stand but for this:
 * `npm start` and `signalbox serve` listen on free ports and the fleet is fast; the addresses of the documents become
 * these; `signalbox` runs the sources without npm; nothing is built, as the package's name leads to the sources; and
 * what is killed is the engine of this folder.
 */
export class Clone {
  private readonly folder = temporaryFolder()
  private engine: Running | undefined
  private shellInHand: ChildProcess | undefined
  private front = FRONT
  private admin = ADMIN

  constructor() {
    for (const name of ['deploy', 'test']) symlinkSync(join(ROOT, name), join(this.folder.path, name))
    const modules = join(this.folder.path, 'node_modules')
    mkdirSync(join(modules, 'signalbox'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules/openai'), join(modules, 'openai'))
    symlinkSync(join(ROOT, 'src'), join(modules, 'signalbox/src'))
    const exports = { '.': './src/app/index.ts', './plugins': './src/plugins/index.ts' }
    this.write('node_modules/signalbox/package.json', JSON.stringify({ name: 'signalbox', type: 'module', exports }))
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder.path, name), text)
  }

  /** Runs a block of shell commands; the first that fails ends it. */
  async shell(text: string): Promise<Ended> {
    const script = text
      .replace(/^signalbox\(\) .*$/m, '')
      .replaceAll('npm run --silent build', 'true')
      .replaceAll("$(pgrep -f 'cli/main.ts start')", String(this.engine?.pid))
      .replaceAll(FRONT, this.front)
      .replaceAll(ADMIN, this.admin)
    const flags = `case "$1" in play) set -- "$@" --url http://${this.front} ;; endpoint) set -- "$@" --admin http://${this.admin} ;; esac`
    const signalbox = `signalbox() { ${flags}; node --disable-warning=ExperimentalWarning '${MAIN}' "$@"; }`
    // With a bound of its own: when this process is killed, a block that waits for ever ends nevertheless.
    const child = spawn('timeout', ['-k', '1', '120', 'sh', '-ec', `exec 2>&1\n${signalbox}\n${script}`], { cwd: this.folder.path, env: this.environment(), stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    this.shellInHand = child
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => { out += chunk.toString() })
    const [code] = (await once(child, 'close')) as [number | null]
    this.shellInHand = undefined
    return { code, out }
  }

  /** `npm start`. */
  async start(): Promise<string> {
    this.engine = await this.run(['start', '--speed', SPEED], /^try$/m)
    this.front = /front door\s+http:\/\/(\S+)/.exec(this.engine.greeting)?.[1] ?? ''
    this.admin = /admin\s+http:\/\/(\S+)/.exec(this.engine.greeting)?.[1] ?? ''
    return this.engine.greeting
  }

  /** `signalbox serve`, until it serves; then it is told to stop. */
  async serve(args: readonly string[]): Promise<Ended> {
    const { greeting, end } = await this.run(['serve', ...args, '--journal-path', 'served.sqlite'], /^serving on .*$/m)
    return { out: greeting, code: await end('SIGTERM') }
  }

  /** Ends the engine with grace. */
  stop(): Promise<number | null> {
    return this.engine?.end('SIGINT') ?? Promise.resolve(null)
  }

  async remove(): Promise<void> {
    // One that hangs has had its time; it leads a group of its own, with all that it started.
    const hanging = this.shellInHand?.pid
    if (hanging !== undefined) process.kill(-hanging, 'SIGKILL')
    await this.engine?.end('SIGKILL')
    await endPool(this.folder.path)
    this.folder.remove()
  }

  private async run(args: readonly string[], ready: RegExp): Promise<Running> {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'], { cwd: this.folder.path, env: this.environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    const exited = once(child, 'exit') as Promise<[number | null]>
    let greeting = ''
    let errors = ''
    child.stderr.on('data', (chunk: Buffer) => { errors += chunk.toString() })
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        greeting += chunk.toString()
        if (ready.test(greeting)) resolve()
      })
      child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${greeting}${errors}`)))
    })
    return {
      greeting,
      pid: child.pid ?? 0,
      end: async (signal) => {
        if (child.exitCode === null && child.signalCode === null) child.kill(signal)
        return (await exited)[0]
      },
    }
  }

  private environment(): NodeJS.ProcessEnv {
    return { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` }
  }
}
