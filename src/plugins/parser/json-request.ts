import { badRequest, type Api, type Json, type PromptInput } from '../../core/body.ts'
import { isDeeperThan } from '../../core/json-scan.ts'

/** As deep as Go's JSON decoder goes; deeper bodies are only ever made to hurt. */
const DEPTH_MAX = 10_000

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })
const EXCERPT_AT = /position (\d+)/

export type JsonObject = { readonly [name: string]: Json }

/** A body as text and as the JSON object it is. */
export interface JsonBody {
  readonly text: string
  readonly object: JsonObject
}

/**
 * Reads a body that must be a JSON object. Bytes that are not UTF-8 become U+FFFD, whole numbers too large for a double
 * are rounded, and the last of several members of one name counts: this is a view, the bytes go on as they came.
 * @throws SchedulingError (BadRequest); its message holds nothing of the body.
 */
export const readJsonBody = (bytes: Uint8Array): JsonBody => {
  if (bytes.length === 0) throw badRequest('the request has no body')
  const text = DECODER.decode(bytes)
  if (isDeeperThan(text, DEPTH_MAX)) throw badRequest(`the body's JSON is nested more than ${DEPTH_MAX} deep`)
  const value = parsed(text)
  if (!isObject(value)) throw badRequest('the body must be a JSON object')
  return { text, object: value }
}

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    // The engine's own message quotes the body: only the place is taken from it.
    const place = EXCERPT_AT.exec(error instanceof Error ? error.message : '')?.[1]
    throw badRequest(`the body is not valid JSON${place === undefined ? '' : ` (at character ${place})`}`)
  }
}

export const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** A member's value; undefined where it is absent or null. Never one inherited. */
export const given = (object: JsonObject, name: string): Exclude<Json, null> | undefined =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined

/** A string member; empty where absent. */
export const textOf = (object: JsonObject, name: string, place = ''): string => {
  const value = given(object, name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw badRequest(`${place}${name} must be a string`)
  return value
}

export const flagOf = (object: JsonObject, name: string, place = ''): boolean | undefined => {
  const value = given(object, name)
  if (value !== undefined && typeof value !== 'boolean') throw badRequest(`${place}${name} must be true or false`)
  return value
}

/** A member that is an object, or an empty one where absent. */
export const objectOf = (object: JsonObject, name: string, place = ''): JsonObject => {
  const value = given(object, name)
  if (value === undefined) return NOTHING
  if (!isObject(value)) throw badRequest(`${place}${name} must be an object`)
  return value
}

/** A member that is a list, or an empty one where absent. */
export const listOf = (object: JsonObject, name: string, place = ''): readonly Json[] => {
  const value = given(object, name)
  if (value === undefined) return []
  if (!isList(value)) throw badRequest(`${place}${name} must be a list`)
  return value
}

/** The first of these members that is a whole number from 0; others are passed over. */
export const boundOf = (object: JsonObject, ...names: readonly string[]): number | undefined => {
  for (const name of names) {
    const value = given(object, name)
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  }
  return undefined
}

/** The model's name; empty where the body names none. */
export const modelOf = (object: JsonObject): string => {
  const model = given(object, 'model')
  return typeof model === 'string' ? model : ''
}

/** `stream` and `stream_options.include_usage`, of which only true and false count. */
export const streamOf = (object: JsonObject): { readonly streaming: boolean; readonly includeUsage: boolean | undefined } => {
  const options = given(object, 'stream_options')
  const usage = isObject(options) ? given(options, 'include_usage') : undefined
  return { streaming: given(object, 'stream') === true, includeUsage: typeof usage === 'boolean' ? usage : undefined }
}

/** Token ids are whole numbers of 32 bits. */
export const tokenIdsOf = (list: readonly Json[], place: string): Uint32Array => {
  const ids = new Uint32Array(list.length)
  for (let i = 0; i < list.length; i++) {
    const id = list[i]
    if (typeof id !== 'number' || id >>> 0 !== id) throw badRequest(`${place}[${i}] must be a token id, a whole number from 0 to 4294967295`)
    ids[i] = id
  }
  return ids
}

/** Text, several texts, token ids, or several lists of token ids. */
export const promptInputOf = (object: JsonObject, name: string): PromptInput => {
  const value = given(object, name)
  if (value === undefined) return { form: 'text', text: '' }
  if (typeof value === 'string') return { form: 'text', text: value }
  if (!isList(value)) throw badRequest(`${name} must be a string or a list`)
  if (value.length === 0) return { form: 'texts', texts: [] }
  if (typeof value[0] === 'number') return { form: 'tokens', prompts: [tokenIdsOf(value, name)] }
  if (isList(value[0])) {
    return { form: 'tokens', prompts: value.map((ids, i) => (isList(ids) ? tokenIdsOf(ids, `${name}[${i}]`) : mixed(name))) }
  }
  return { form: 'texts', texts: value.map((text) => (typeof text === 'string' ? text : mixed(name))) }
}

const mixed = (name: string): never => {
  throw badRequest(`${name} must be all strings, all token ids, or all lists of token ids`)
}

/** The longest of these suffixes that ends the path at a whole segment. */
export const apiOf = (path: string, apis: ReadonlyMap<string, Api>): Api | undefined => {
  let best = ''
  for (const suffix of apis.keys()) {
    if (suffix.length > best.length && (path === suffix || path.endsWith(`/${suffix}`))) best = suffix
  }
  return apis.get(best)
}

const NOTHING: JsonObject = {}
