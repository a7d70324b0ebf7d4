/**
 * KV events through NATS into the precise prefix index of 16 endpoints: blocks a second, what of a core they cost, and
 * how far behind the engine is.
 *
 * `node test/bench/nats/kv-events.ts`: starts a nats-server and a publisher as processes of their own.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { NatsWorld } from '../../integration/nats/engine-on-nats.ts'
import { preciseConfiguration } from '../../integration/nats/precise.ts'
import { report } from '../harness.ts'

const RATE = 1_000_000
const LOAD_MS = 5000
const ENDPOINTS = 16

const world = await NatsWorld.start()
const engine = await world.engine({ 'log-level': 'error', 'nats-endpoint-timeout': '10m' }, undefined, preciseConfiguration(world.server.folder, 'http://127.0.0.1:9'))
const { actor } = engine.host
let blocks = 0
actor.turns.subscribe(({ turn }) => {
  const input = turn.record.input?.input
  if (input?.kind === 'kvBlocksStored' || input?.kind === 'kvBlocksRemoved') blocks += input.value.keys.length / 8
})
const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', fileURLToPath(new URL('./kv-events-process.ts', import.meta.url)), world.server.url, String(RATE), String(LOAD_MS)], { stdio: ['pipe', 'pipe', 'inherit'] })
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
await lines.next()

const shown = async (name: string): Promise<number> => {
  const text = await (await fetch(`${engine.adminUrl}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
}
while (actor.engine.view.fleet.present().length < ENDPOINTS || (await shown('signalbox_kv_events_waiting_endpoints')) > 0) await new Promise((resolve) => setTimeout(resolve, 50))

let behind = 0
let ended = false
const watching = (async () => {
  while (!ended) {
    behind = Math.max(behind, await shown('signalbox_kv_events_behind'))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
})()
const cpu = process.threadCpuUsage()
const since = performance.now()
child.stdin.write('go\n')
const told = Number(String((await lines.next()).value).replace('told ', ''))
const offeredSeconds = (performance.now() - since) / 1000
for (let before = -1; before !== blocks && blocks < told;) {
  before = blocks
  await new Promise((resolve) => setTimeout(resolve, 500))
}
const seconds = (performance.now() - since) / 1000
const { user, system } = process.threadCpuUsage(cpu)
ended = true
await watching
child.stdin.write('end\n')

report(`KV events through NATS, ${ENDPOINTS} endpoints, ${RATE} blocks/s offered for ${LOAD_MS / 1000} s`, [
  { name: 'told', value: told / offeredSeconds, unit: 'blocks/s' },
  { name: 'taken', value: blocks / (blocks < told ? seconds : Math.max(offeredSeconds, seconds - 0.5)), unit: 'blocks/s', goal: 1_000_000, atLeast: true },
  { name: 'cost of one in the engine\'s thread', value: ((user + system) / blocks) * 1000, unit: 'ns' },
  { name: 'reports that waited in the server, at most', value: behind, unit: '' },
  { name: 'gaps', value: await shown('signalbox_kv_events_faults_total\\{fault="gap"\\}'), unit: '' },
])
await world.close()
