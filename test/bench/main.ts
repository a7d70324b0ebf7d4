/**
 * Runs the benches one after another, each in a process of its own, and passes on what they print.
 *
 * `npm run bench -- [--list] [NAME...]`: a name is a bench or the beginning of several, such as "engine" or
 * "engine/request"; all without one. What stands after a second `--` goes to each bench. Exits 1 when a bench fails; a
 * goal that is missed is printed, and no failure: figures are for people, and machines differ.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Bench {
  readonly name: string
  readonly file: string
  readonly about: string
}

const folder = fileURLToPath(new URL('.', import.meta.url))

/** A file is a bench when its opening comment says how to run it; its first sentence is what it is about. */
const benchOf = (file: string): Bench | undefined => {
  const name = relative(folder, file).replace(/\.ts$/, '').replaceAll('\\', '/')
  const comment = /^\/\*\*([^]*?)\*\//.exec(readFileSync(file, 'utf8'))?.[1]?.replace(/\s*\n \* ?/g, ' ').trim() ?? ''
  if (!comment.includes(`node test/bench/${name}.ts`)) return undefined
  return { name, file, about: /^.*?[.:](?=\s|$)/.exec(comment)?.[0].replace(/:$/, '.') ?? comment }
}

const benches = (): readonly Bench[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && path !== 'main.ts')
    .flatMap((path) => benchOf(join(folder, path)) ?? [])
    .sort((a, b) => (a.name < b.name ? -1 : 1))

/** Runs a bench to its end; the code it exits with. */
const run = async ({ name, file }: Bench, args: readonly string[]): Promise<number> => {
  console.log(`\n== ${name}`)
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], { stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

const given = process.argv.slice(2)
const split = given.indexOf('--')
const [own, passed] = split < 0 ? [given, []] : [given.slice(0, split), given.slice(split + 1)]
const names = own.filter((argument) => argument !== '--list')
const all = benches()
const wanted = names.length === 0 ? all : all.filter(({ name }) => names.some((each) => name === each || name.startsWith(`${each}/`)))
const unknown = names.find((each) => !all.some(({ name }) => name === each || name.startsWith(`${each}/`)))

if (unknown !== undefined) {
  console.error(`no bench \`${unknown}\`; there are: ${all.map(({ name }) => name).join(', ')}`)
  process.exitCode = 2
} else if (own.includes('--list')) {
  for (const { name, about } of wanted) console.log(`${name.padEnd(28)} ${about}`)
} else {
  const failed: string[] = []
  for (const bench of wanted) if ((await run(bench, passed)) !== 0) failed.push(bench.name)
  if (failed.length > 0) console.error(`\nfailed: ${failed.join(', ')}`)
  process.exitCode = failed.length > 0 ? 1 : 0
}
