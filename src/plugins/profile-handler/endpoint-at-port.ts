import { Endpoint } from '../../core/endpoint.ts'

/**
 * The same endpoint, in the same life and with the same metrics, under another port. What is known of it by slot or life
 * (attributes, load) is known of the copy too. (llm-d: primaryPort, whose copies have no attributes)
 */
export const atPort = (endpoint: Endpoint, port: number): Endpoint => {
  const { id, address, labels, annotations, incarnation, metricsHostPort, slot, life } = endpoint
  const copy = new Endpoint({ id, address, port, labels, annotations, incarnation, metricsHostPort }, slot, life)
  copy.waitingQueueSize = endpoint.waitingQueueSize
  copy.runningRequestsSize = endpoint.runningRequestsSize
  copy.kvCacheUsage = endpoint.kvCacheUsage
  copy.cacheBlockSize = endpoint.cacheBlockSize
  copy.cacheNumBlocks = endpoint.cacheNumBlocks
  copy.maxActiveModels = endpoint.maxActiveModels
  copy.activeModels = endpoint.activeModels
  copy.waitingModels = endpoint.waitingModels
  copy.custom = endpoint.custom
  copy.heardAt = endpoint.heardAt
  return copy
}

/** Tells the node's proxy which data-parallel rank to use. */
export const DATA_PARALLEL_HEADER = 'x-data-parallel-host-port'
