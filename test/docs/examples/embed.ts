import { readFileSync } from 'node:fs'
import { createEngine } from '../../../src/app/index.ts'
import { pluginTypes } from './same-zone.ts'

const engine = await createEngine({ configuration: readFileSync('zones.yaml', 'utf8'), pluginTypes })
engine.join({ name: 'a', address: '10.0.0.1', port: 8000, labels: { zone: 'south' } })
engine.join({ name: 'b', address: '10.0.0.2', port: 8000, labels: { zone: 'north' } })

const body = { path: '/v1/completions', bytes: Buffer.from('{"model":"m","prompt":"Which way at the junction?"}') }
const reply = await engine.schedule({ body })
if (reply.kind === 'routed') {
  process.stdout.write(`send it to ${reply.endpoint.hostPort}\n`)
  for (const { profiles } of engine.receipts(reply.request)) process.stdout.write(`totals ${profiles[0]?.totals.join(' and ')}\n`)
  engine.sent(reply.request, reply.attempt)
  engine.started(reply.request, reply.attempt)
  engine.ended(reply.request, reply.attempt)
}
await engine.close()
