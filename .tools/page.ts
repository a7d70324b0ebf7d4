// Usage: node .tools/page.ts FOLDER: builds the visualizer's page into a folder.
import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'vite'
import type { InlineConfig, Plugin } from 'vite'
import { endpointMachine, journalLinkMachine, requestMachine, toGraph } from '../machines/index.ts'
import { drawing } from './machine-drawing.ts'

const DRAWINGS = 'virtual:drawings'

/** The machines' drawings, laid out once, here: in the page nothing moves, and no layout engine is loaded. */
const drawings = (): Plugin => ({
  name: 'signalbox-drawings',
  resolveId: (id) => (id === DRAWINGS ? `\0${DRAWINGS}` : undefined),
  load: async (id) => {
    if (id !== `\0${DRAWINGS}`) return undefined
    const graphs = [requestMachine, endpointMachine, journalLinkMachine].map(toGraph)
    return `export const drawings = ${JSON.stringify(await Promise.all(graphs.map(drawing)))}`
  },
})

const pageConfig = (folder: string): InlineConfig => ({
  root: join(dirname(import.meta.dirname), 'src', 'visualizer'),
  configFile: false,
  base: './',
  logLevel: 'warn',
  plugins: [drawings()],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  worker: { format: 'es' },
  build: { outDir: folder, target: 'es2023', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false, emptyOutDir: true },
})

/** Builds the page. What was in the folder is gone. */
export const buildPage = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true })
  await build(pageConfig(folder))
}

if (import.meta.main) {
  const folder = process.argv[2]
  if (folder === undefined) {
    process.stderr.write('usage: node .tools/page.ts FOLDER\n')
    process.exit(2)
  }
  await buildPage(resolve(folder))
}
