import type { Api, GenerationRequest, JsonObject } from './generation-request.ts'
import { MEDIA_TOKENS } from './prompt-bytes.ts'
import type { Prompt } from './prompt-bytes.ts'

/** The routes that tell a prompt's tokens, and whose prompts each reads. (vLLM: render) */
export const RENDER_PATHS: ReadonlyMap<string, Api> = new Map([
  ['/v1/completions/render', 'completions'],
  ['/v1/chat/completions/render', 'chat'],
])

/** The token ids of a prompt: those whose blocks the cache knows. */
export function tokenIdsOf({ bytes, tokens }: Prompt): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, tokens)
}

/** By what cached blocks are told apart that hold an item. */
export function mediaHash(key: number): string {
  return key.toString(16)
}

/** The answer: one object for chat, a list of them for completions. */
export function rendering({ api, model, prompt }: GenerationRequest): JsonObject | JsonObject[] {
  const answer: JsonObject = { model, token_ids: Array.from(tokenIdsOf(prompt)), features: featuresOf(prompt) }
  return api === 'completions' ? [answer] : answer
}

function featuresOf({ places }: Prompt): JsonObject | null {
  if (places.length === 0) return null
  return {
    mm_hashes: { image: places.map(({ item }) => mediaHash(item.key)) },
    mm_placeholders: { image: places.map(({ offset }) => ({ offset, length: MEDIA_TOKENS })) },
  }
}
