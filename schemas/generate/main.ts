import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import { fileCode, indexCode } from './code.ts'
import { readModel } from './model.ts'

/** Written by hand; all other files of the folder are generated. */
const HAND_WRITTEN: readonly string[] = ['runtime.ts', 'runtime-reader.ts', 'runtime-writer.ts', 'wire-error.ts']

const SCHEMAS = fileURLToPath(new URL('../', import.meta.url))
const WIRE = fileURLToPath(new URL('../../src/wire/', import.meta.url))
const PACKAGE = 'signalbox/v1'

/** The generated files by name. */
export function generate(): ReadonlyMap<string, string> {
  const protos = readdirSync(SCHEMAS + PACKAGE).filter(name => name.endsWith('.proto')).sort().map(name => `${PACKAGE}/${name}`)
  const root = new protobuf.Root()
  root.resolvePath = (_origin, target) => SCHEMAS + target.replace(SCHEMAS, '')
  root.loadSync([...protos], { keepCase: true, alternateCommentMode: true })
  const files = readModel(root, protos.map(proto => SCHEMAS + proto))
  return new Map([...files.map(file => [`${file.name}.ts`, fileCode(file)] as const), ['index.ts', indexCode(files)]])
}

/** Names of the files in `src/wire` that are not what the schemas give. */
export function drift(wanted: ReadonlyMap<string, string>): string[] {
  const stale = readdirSync(WIRE).filter(name => !wanted.has(name) && !HAND_WRITTEN.includes(name))
  const differing = [...wanted].filter(([name, text]) => !existsSync(WIRE + name) || readFileSync(WIRE + name, 'utf8') !== text)
  return [...differing.map(([name]) => name), ...stale].sort()
}

function main(args: readonly string[]): number {
  const wanted = generate()
  const differing = drift(wanted)
  if (args.includes('--check')) {
    for (const name of differing) console.error(`src/wire/${name} is not what schemas/ gives; run: node schemas/generate/main.ts`)
    return differing.length > 0 ? 1 : 0
  }
  for (const name of differing) {
    const text = wanted.get(name)
    if (text === undefined) rmSync(WIRE + name)
    else writeFileSync(WIRE + name, text)
    console.log(`src/wire/${name}`)
  }
  return 0
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2))
