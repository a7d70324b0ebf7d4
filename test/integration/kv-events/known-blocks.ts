import { filter, firstValueFrom, startWith } from 'rxjs'
import type { EngineHost } from '../../../src/app/host.ts'
import { PrecisePrefixCacheProducer } from '../../../src/plugins/producer/precise-prefix-cache-producer/index.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'

export interface Hosting {
  readonly host: EngineHost
}

export const producerOf = ({ host }: Hosting): PrecisePrefixCacheProducer => {
  const found = host.actor.engine.view.pipeline.plugins.find((plugin) => plugin instanceof PrecisePrefixCacheProducer)
  if (found === undefined) throw new Error('there is no precise producer')
  return found
}

/** Blocks that the engine knows of for sure, by endpoint in the order of their ids. */
export const known = (server: Hosting): readonly number[] => {
  const { index } = producerOf(server)
  return server.host.actor.engine.view.fleet.present().map(({ slot }) => {
    const size = index.shelf(slot)?.size ?? 0
    const words = new Int32Array(4 * size)
    if (size > 0) index.copy(slot, words, 0)
    // Of the references the lowest byte is the speculative tier's.
    return Array.from({ length: size }, (_, at) => ((words[4 * at + 2] ?? 0) & ~255) !== 0).filter(Boolean).length
  })
}

/** Resolves when the engine knows of as many blocks as the endpoints, in the order of their ids, have in their caches. */
export const settled = async (server: Hosting, endpoints: readonly SimulatedEndpoint[]): Promise<void> => {
  const isSo = (): boolean => known(server).length === endpoints.length && known(server).every((blocks, at) => blocks === endpoints[at]?.state().kvBlocksCached)
  await firstValueFrom(server.host.actor.turns.pipe(startWith(undefined), filter(isSo)))
}
