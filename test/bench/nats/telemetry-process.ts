// Publishes telemetry of 1,000 endpoints at the rate given, for the time given.
import { NatsLink } from '../../../src/adapters/nats/connection.ts'
import { Names } from '../../../src/adapters/nats/names.ts'
import { emptyEndpointInfo, emptyEndpointMetrics, encodeEndpointAnnouncement, encodeTelemetryReport, toBytes } from '../../../src/wire/index.ts'

const [url = '', rate = '', ms = ''] = process.argv.slice(2)
const ENDPOINTS = 1000
const names = new Names('signalbox.v1', 'default')
const link = await NatsLink.open({ servers: url, name: 'telemetry' })
const { connection } = link
for (let n = 0; n < ENDPOINTS; n++) {
  const endpoint = { ...emptyEndpointInfo(), id: `e${n}`, address: '127.0.0.1', port: 1 + n, incarnation: 'one' }
  connection.publish(`$KV.${names.endpointsBucket}.e${n}`, toBytes(encodeEndpointAnnouncement, { endpoint, presence: 'ready', heartbeat: 1 }))
}
await connection.flush()
process.stdout.write('announced\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
const subjects = Array.from({ length: ENDPOINTS }, (_, n) => names.telemetry(`e${n}`))
const metrics = emptyEndpointMetrics()
const perStep = Number(rate) / 200
const end = performance.now() + Number(ms)
let sent = 0
for (let due = performance.now(); due < end; due += 5) {
  while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1))
  for (let n = 0; n < perStep; n++, sent++) {
    const at = sent % ENDPOINTS
    const report = { endpoint: '', incarnation: 'one', sequence: 1 + Math.floor(sent / ENDPOINTS), metrics: { ...metrics, waitingQueueSize: sent % 13, runningRequestsSize: sent % 31, kvCacheUsage: (sent % 97) / 97 } }
    connection.publish(subjects[at] as string, toBytes(encodeTelemetryReport, report))
  }
}
await connection.flush()
process.stdout.write(`sent ${sent}\n`)
await link.close()
process.exit(0)
