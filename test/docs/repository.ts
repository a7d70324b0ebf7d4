import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT: string = join(import.meta.dirname, '../..')

/** Folders that hold what is installed, built or written at run time. */
const NOT_OURS: ReadonlySet<string> = new Set(['.git', 'node_modules', 'dist', '.signalbox', '.vite', 'coverage'])
const TEXT = /\.(?:md|ts|tsx|js|mjs|json|jsonl|yaml|yml|proto|svg|css|html|sh|csv|toml|conf)$|^(?:[^.]+|\.\w+)$/

/** Text files of the project by their paths from its root, sorted. */
export const textFiles = (folder = ''): readonly string[] =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : textFiles(path)
    return entry.isFile() && TEXT.test(entry.name) ? [path] : []
  }).sort()
