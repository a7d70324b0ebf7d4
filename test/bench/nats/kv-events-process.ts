// Announces endpoints and tells of their caches at the rate given, for the time given, as their agents do.
import { NatsLink } from '../../../src/adapters/nats/connection.ts'
import { KvPublisher } from '../../../src/adapters/nats/kv-publisher.ts'
import { Names } from '../../../src/adapters/nats/names.ts'
import { namingOf } from '../../../src/app/nats/kv-naming.ts'
import { emptyEndpointInfo, encodeEndpointAnnouncement, toBytes } from '../../../src/wire/index.ts'

const [url = '', rate = '', ms = ''] = process.argv.slice(2)
const ENDPOINTS = 16
/** Blocks of one change: a prompt of 1,024 tokens. */
const CHANGE_BLOCKS = 64
/** Blocks that an endpoint holds; what is stored beyond pushes out the oldest. */
const HELD = 32_768
const names = new Names('signalbox.v1', 'default')
const link = await NatsLink.open({ servers: url, name: 'kv-events' })
const { connection } = link
const keys = (n: number): Uint8Array => new Uint8Array(BigUint64Array.from({ length: CHANGE_BLOCKS }, (_, at) => BigInt.asUintN(64, BigInt(n * CHANGE_BLOCKS + at + 1) * 0x9e37_79b9_7f4a_7c15n)).buffer)
const prompts = Array.from({ length: (2 * HELD) / CHANGE_BLOCKS }, (_, n) => keys(n))
const publishers = Array.from({ length: ENDPOINTS }, (_, n) => {
  const endpoint = { ...emptyEndpointInfo(), id: `e${n}`, address: '127.0.0.1', port: 1 + n, incarnation: 'one', labels: [{ name: 'signalbox/kv-events', value: 'nats' }] }
  connection.publish(`$KV.${names.endpointsBucket}.e${n}`, toBytes(encodeEndpointAnnouncement, { endpoint, presence: 'ready', heartbeat: 1 }))
  return new KvPublisher({
    link, names,
    endpoint: `e${n}`,
    incarnation: 'one',
    naming: namingOf({ hash: 'cbor-fnv', blockTokens: 16, seed: '', mask: undefined }),
    held: () => [],
    failed: (error) => process.stderr.write(`${String(error)}\n`),
  })
})
await connection.flush()
process.stdout.write('announced\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
const perStep = Number(rate) / 200 / CHANGE_BLOCKS
const end = performance.now() + Number(ms)
let changes = 0
for (let due = performance.now(), owed = 0; due < end; due += 5) {
  while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1))
  for (owed += perStep; owed >= 1; owed -= 1, changes++) {
    const at = Math.floor(changes / ENDPOINTS)
    const kind = at % 2 === 0 || at < HELD / CHANGE_BLOCKS ? 'stored' : 'removed'
    publishers[changes % ENDPOINTS]?.changed({ kind, keys: prompts[(kind === 'stored' ? at : at - HELD / CHANGE_BLOCKS) % prompts.length] as Uint8Array, tier: 'gpu' })
  }
  await new Promise(setImmediate)
}
process.stdout.write(`told ${changes * CHANGE_BLOCKS}\n`)
await new Promise((resolve) => process.stdin.once('data', resolve))
for (const publisher of publishers) await publisher.close()
await link.close()
process.exit(0)
