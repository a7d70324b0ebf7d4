import { type Column, keyText, PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo } from '../core/attribute.ts'
import type { SchedulingResult } from '../core/request.ts'
import { denial, SchedulingError } from '../core/scheduling-error.ts'
import type { EngineContext } from './context.ts'
import type { LiveRequest } from './live-request.ts'

const MATCHES = keyText(PREFIX_CACHE_MATCH_INFO)

/**
 * A client that sends `Prefer: if-available` wants to be served from a cache or not at all: the first endpoint of the primary
 * profile has to hold some of the prompt, as the approximate producer guesses, whichever others there are.
 * (llm-d: conditional decode)
 * @throws SchedulingError (PreconditionFailed, 412)
 */
export const requireCached = (context: EngineContext, request: LiveRequest, { primary, results }: SchedulingResult): void => {
  if (request.received.get('prefer')?.includes('if-available') !== true) return
  const endpoint = results.get(primary)?.endpoints[0]
  const matches = context.pipeline.columns.get(MATCHES) as Column<PrefixCacheMatchInfo> | undefined
  const match = endpoint === undefined ? undefined : matches?.get(endpoint)
  if ((match?.matchBlocks ?? 0) > 0) return
  throw new SchedulingError(denial('PreconditionFailed', 'no part of the prompt is in the cache of the endpoint that was picked'))
}
