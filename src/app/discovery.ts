import { FileDiscoverySource } from '../adapters/file-discovery/index.ts'
import type { EngineActor } from '../actors/engine-actor.ts'
import type { CompletedConfiguration } from '../core/configuration.ts'
import type { EndpointDescription } from '../core/endpoint.ts'
import type { SignalboxError } from '../core/errors.ts'
import { FILE_BYTES_MAX, FileDiscovery } from '../plugins/discovery/file-discovery/index.ts'
import type { EndpointInfo } from '../wire/endpoint.ts'
import type { Input } from '../wire/input.ts'

export interface Discovery {
  /** @throws SignalboxError when the endpoints cannot be had */
  start(): Promise<void>
  close(): Promise<void>
}

/** Brings the endpoints of the configured discovery into the engine; undefined where none is configured. */
export const discoveryOf = (actor: EngineActor, configuration: CompletedConfiguration, failed: (error: SignalboxError) => void): Discovery | undefined => {
  const plugin = actor.engine.view.pipeline.plugins.find(({ typedName }) => typedName.name === configuration.dataLayer.discovery)
  if (!(plugin instanceof FileDiscovery)) return undefined
  return new FileDiscoverySource({
    discovery: plugin,
    bytesMax: FILE_BYTES_MAX,
    known: actor.engine.view.fleet.present().map((endpoint) => endpoint),
    failed,
    changed: ({ joined, updated, left }) => {
      // What the engine refuses is said; the others come in all the same.
      const tell = (input: NonNullable<Input['input']>): void => actor.submit({ input }, undefined, failed)
      for (const id of left) tell({ kind: 'endpointLeft', value: { endpoint: id, incarnation: '', reason: 'no longer in the file' } })
      for (const endpoint of updated) tell({ kind: 'endpointUpdated', value: { endpoint: infoOf(endpoint) } })
      for (const endpoint of joined) tell({ kind: 'endpointJoined', value: { endpoint: infoOf(endpoint) } })
    },
  })
}

const infoOf = ({ id, address, port, labels, annotations, incarnation, metricsHostPort }: EndpointDescription): EndpointInfo => ({
  id, address, port, incarnation, metricsHostPort,
  labels: pairs(labels),
  annotations: pairs(annotations),
})

const pairs = (map: ReadonlyMap<string, string>): { name: string; value: string }[] => [...map].map(([name, value]) => ({ name, value }))
