import type { MediaFeature } from '../../core/request.ts'
import type { TokenizedPrompt } from '../../core/shape.ts'

/** The highest token id. */
const TOKEN_MAX = 4_294_967_295

/**
 * The prompts in a renderer's answer: one object of `token_ids` and `features`, or a list of them, one a prompt.
 * @throws Error where it is neither
 */
export const rendered = (answer: unknown): readonly TokenizedPrompt[] => (Array.isArray(answer) ? answer.map(promptOf) : [promptOf(answer)])

const promptOf = (answer: unknown): TokenizedPrompt => {
  const ids = isObject(answer) ? answer['token_ids'] : undefined
  if (!isObject(answer) || !Array.isArray(ids)) throw new Error("the renderer's answer has no list token_ids")
  const tokenIds = new Uint32Array(ids.length)
  for (const [at, id] of ids.entries()) {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > TOKEN_MAX) throw new Error("the renderer's answer has a token id that is none")
    tokenIds[at] = id
  }
  return { tokenIds, media: mediaOf(answer['features']) }
}

/** Hashes and places belong together by their number; the shorter list decides. */
const mediaOf = (features: unknown): readonly MediaFeature[] => {
  if (!isObject(features)) return []
  const { mm_hashes: hashes, mm_placeholders: places } = features
  if (!isObject(hashes) || !isObject(places)) return []
  const found: MediaFeature[] = []
  for (const [modality, list] of Object.entries(hashes)) {
    const ranges = places[modality]
    if (!Array.isArray(list) || !Array.isArray(ranges)) continue
    for (const [at, hash] of list.entries()) {
      const range: unknown = ranges[at]
      if (typeof hash === 'string' && isObject(range) && isCount(range['offset']) && isCount(range['length'])) {
        found.push({ modality, hash, offset: range['offset'], length: range['length'] })
      }
    }
  }
  return found.sort((a, b) => a.offset - b.offset)
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKEN_MAX
