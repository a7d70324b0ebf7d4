/**
 * Several replicas behind the queue group: how much of what one replica would have found in the endpoints' caches.
 *
 * `node test/bench/nats/prefix-hits.ts`: starts nats-servers and engines in this process.
 */
import { prefixHits } from '../../integration/nats/prefix-hits.ts'
import { report } from '../harness.ts'

const TRACE = { endpoints: 12, conversations: 120, turns: 8 }

const one = await prefixHits(1, TRACE)
const three = await prefixHits(3, TRACE)

report(`prefixes, ${TRACE.conversations} conversations of ${TRACE.turns} turns on ${TRACE.endpoints} endpoints; three replicas served ${three.byReplica.join(', ')}`, [
  { name: 'prompt found in the cache, one replica', value: 100 * one.share, unit: '%' },
  { name: 'prompt found in the cache, three replicas', value: 100 * three.share, unit: '%' },
  { name: 'three to one', value: (100 * three.share) / one.share, unit: '%', goal: 90, atLeast: true },
])
