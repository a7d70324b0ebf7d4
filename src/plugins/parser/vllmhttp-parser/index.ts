import { badRequest, type GenerateFeatures, type InferenceBody, type Json, type ParsedRequest, type Parser } from '../../../core/body.ts'
import type { PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import {
  boundOf, given, isList, isObject, type JsonObject, listOf, modelOf, objectOf, readJsonBody, streamOf, textOf, tokenIdsOf,
} from '../json-request.ts'

const TYPE = 'vllmhttp-parser'

/** Reads vLLM's generate API, whose prompts are token ids. (llm-d: vllmhttp-parser) */
export class VllmhttpParser implements Parser {
  readonly typedName: TypedName
  readonly suffixes: readonly string[] = ['inference/v1/generate']
  readonly protocols: readonly string[] = ['h2c', 'http']

  constructor(name: string) {
    this.typedName = { type: TYPE, name }
  }

  parse(bytes: Uint8Array, _path: string, _headers: ReadonlyMap<string, string>): ParsedRequest {
    const { object } = readJsonBody(bytes)
    if (listOf(object, 'token_ids').length === 0) throw badRequest('token_ids is required and must not be empty')
    const body = generateBody(object)
    const maxOutputTokens = boundOf(objectOf(object, 'sampling_params'), 'max_tokens')
    return { api: 'generate', model: modelOf(object), ...streamOf(object), maxOutputTokens, body, rewritable: true, readsResponse: true }
  }
}

/**
 * Views a body of vLLM's generate API; members that are absent are empty.
 * @throws SchedulingError (BadRequest) where a member is of a wrong type.
 */
export const generateBody = (object: JsonObject): InferenceBody => {
  const features = given(object, 'features')
  return {
    kind: 'generate',
    tokenIds: tokenIdsOf(listOf(object, 'token_ids'), 'token_ids'),
    features: isObject(features) ? featuresOf(features) : undefined,
    cacheSalt: textOf(object, 'cache_salt'),
  }
}

const featuresOf = (features: JsonObject): GenerateFeatures => ({
  hashes: byModality(features, 'mm_hashes', (hash, place) => {
    if (typeof hash !== 'string') throw badRequest(`${place} must be a string`)
    return hash
  }),
  placeholders: byModality(features, 'mm_placeholders', (range, place) => {
    if (!isObject(range)) throw badRequest(`${place} must be an object`)
    return { offset: boundOf(range, 'offset') ?? 0, length: boundOf(range, 'length') ?? 0 }
  }),
})

const byModality = <T>(features: JsonObject, name: string, read: (item: Json, place: string) => T): ReadonlyMap<string, readonly T[]> => {
  const lists = new Map<string, readonly T[]>()
  for (const [modality, items] of Object.entries(objectOf(features, name, 'features.'))) {
    const place = `features.${name}.${modality}`
    if (items === null) continue
    if (!isList(items)) throw badRequest(`${place} must be a list`)
    lists.set(modality, items.map((item, index) => read(item, `${place}[${index}]`)))
  }
  return lists
}

export const vllmhttpParser: PluginType = {
  type: TYPE,
  kinds: ['parser'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new VllmhttpParser(context.name)
  },
}
