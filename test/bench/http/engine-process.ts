// The front door with its engine and journal, as `signalbox serve` runs it, in a process of its own: engine-process.ts ENDPOINT
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from '../../../src/app/load.ts'
import { serve } from '../../../src/app/serve.ts'
import { splitHostPort } from '../../../src/core/address.ts'
import { tellPort } from './child.ts'

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
process.on('exit', () => {
  rmSync(folder, { recursive: true, force: true })
})
const { host, port } = splitHostPort(process.argv[2] ?? '')
const endpoints = join(folder, 'endpoints.json')
writeFileSync(endpoints, JSON.stringify({ endpoints: [{ name: 'endpoint', namespace: 'bench', address: host, port }] }))
const flags = new Map([
  ['listen', '127.0.0.1:0'], ['admin-listen', '127.0.0.1:0'], ['journal-path', join(folder, 'journal.sqlite')], ['log-level', 'error'],
])
const loaded = await load({ files: [], flags, pluginModules: [], allowExperimental: false, endpoints })
const serving = await serve(loaded)
tellPort(serving.front.port)
