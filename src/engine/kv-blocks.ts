import type { Input } from '../wire/input.ts'
import type { EngineContext } from './context.ts'
import { callHook } from './hooks.ts'

type KvInput = Extract<NonNullable<Input['input']>, { kind: 'kvBlocksStored' | 'kvBlocksRemoved' | 'kvBlocksCleared' }>

/** Hands on what an endpoint's engine did to its cache. Of an endpoint that is gone, or of an earlier life, it says nothing. */
export const takeKvBlocks = (context: EngineContext, input: KvInput): void => {
  const endpoint = context.fleet.get(input.value.endpoint)?.endpoint
  const { incarnation } = input.value
  if (endpoint === undefined || (incarnation !== '' && incarnation !== endpoint.incarnation)) return
  for (const plugin of context.pipeline.kvEvents) {
    callHook(context, plugin, 'KvEvents', () => {
      switch (input.kind) {
        case 'kvBlocksStored':
          return plugin.kvBlocksStored(endpoint, input.value.keys, input.value.tier, input.value.blockTokens)
        case 'kvBlocksRemoved':
          return plugin.kvBlocksRemoved(endpoint, input.value.keys, input.value.tier)
        case 'kvBlocksCleared':
          return plugin.kvBlocksCleared(endpoint)
      }
    }, undefined)
  }
}
