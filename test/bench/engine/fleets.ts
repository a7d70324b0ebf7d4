import { Endpoint } from '../../../src/core/endpoint.ts'
import { joined, telemetry } from '../../story/inputs.ts'
import type { World } from '../../story/world.ts'

/** Endpoints with queues and KV use that differ, in order of id. */
export const endpoints = (count: number): Endpoint[] =>
  Array.from({ length: count }, (_, i) => {
    const endpoint = new Endpoint(
      { id: `default/e${String(i).padStart(5, '0')}`, address: '10.0.0.1', port: 8000 + i, labels: new Map(), annotations: new Map(), incarnation: '1', metricsHostPort: '' },
      i, i + 1,
    )
    endpoint.waitingQueueSize = (i * 7) % 23
    endpoint.kvCacheUsage = ((i * 31) % 97) / 97
    endpoint.heardAt = 1
    return endpoint
  })

/** Joins a fleet: 3 of 4 decode, the others prefill; then hears from all. */
export const joinFleet = (world: World, count: number): void => {
  for (let i = 0; i < count; i += 1) world.step(joined(`e${String(i).padStart(5, '0')}`, i % 4 === 3 ? 'prefill' : 'decode'))
  world.step(telemetry(Array.from({ length: count }, (_, slot) => ({ slot, waiting: (slot * 7) % 23, kv: ((slot * 31) % 97) / 97 }))))
}
