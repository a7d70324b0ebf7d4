import { badRequest, type ConversationItem, type InferenceBody, type Json, type Part, type Turn } from '../../../core/body.ts'
import { given, isList, isObject, type JsonObject, listOf, objectOf, promptInputOf, textOf } from '../json-request.ts'

export type OpenaiApi = 'chat' | 'completions' | 'embeddings' | 'responses' | 'conversations' | 'images'

/**
 * Views a body of one of OpenAI's APIs; members that are absent are empty.
 * @throws SchedulingError (BadRequest) where a member is of a wrong type.
 */
export const openaiBody = (api: OpenaiApi, object: JsonObject): InferenceBody => {
  const cacheSalt = textOf(object, 'cache_salt')
  switch (api) {
    case 'chat':
      return { kind: api, turns: listOf(object, 'messages').map(turnOf), tools: listOf(object, 'tools'), cacheSalt }
    case 'completions':
      return { kind: api, prompt: promptInputOf(object, 'prompt'), cacheSalt }
    case 'embeddings':
      return { kind: api, input: promptInputOf(object, 'input'), cacheSalt }
    case 'responses':
      return { kind: api, input: anyOf(object, 'input'), instructions: anyOf(object, 'instructions'), tools: anyOf(object, 'tools'), cacheSalt }
    case 'conversations':
      return { kind: api, items: given(object, 'items') === undefined ? undefined : listOf(object, 'items').map(itemOf), cacheSalt }
    case 'images':
      return { kind: api, prompt: textOf(object, 'prompt'), cacheSalt }
  }
}

/** @throws SchedulingError (BadRequest) where the body lacks what its API cannot do without. (llm-d: openai-parser) */
export const requireContent = (api: OpenaiApi, object: JsonObject): void => {
  const [name, what] = REQUIRED[api]
  const value = given(object, name)
  const missing = value === undefined || (what !== '' && (value === '' || (isList(value) && value.length === 0)))
  if (missing) throw badRequest(`${name} is required${what}`)
}

const REQUIRED: Readonly<Record<OpenaiApi, readonly [name: string, what: string]>> = {
  chat: ['messages', ' and must not be empty'],
  completions: ['prompt', ' and must not be empty'],
  embeddings: ['input', ''],
  responses: ['input', ''],
  conversations: ['items', ' and must not be empty'],
  images: ['prompt', ' and must not be empty'],
}

const anyOf = (object: JsonObject, name: string): Json => given(object, name) ?? null

const itemOf = (item: Json, index: number): ConversationItem => {
  const place = `items[${index}].`
  if (!isObject(item)) throw badRequest(`items[${index}] must be an object`)
  return { type: textOf(item, 'type', place), role: textOf(item, 'role', place), content: anyOf(item, 'content') }
}

const turnOf = (message: Json, index: number): Turn => {
  const place = `messages[${index}].`
  if (!isObject(message)) throw badRequest(`messages[${index}] must be an object`)
  const role = textOf(message, 'role', place)
  const content = given(message, 'content') ?? ''
  if (typeof content === 'string') return { role, content }
  if (!isList(content)) throw badRequest(`${place}content must be a string or a list of parts`)
  return { role, content: content.flatMap((part, at) => partOf(part, `${place}content[${at}]`)) }
}

const partOf = (part: Json, place: string): readonly Part[] => {
  if (!isObject(part)) throw badRequest(`${place} must be an object`)
  switch (part['type']) {
    case 'text':
      return [{ type: 'text', text: textOf(part, 'text', `${place}.`) }]
    case 'image_url':
      return [{ type: 'image', url: urlOf(part, 'image_url', place) }]
    case 'video_url':
      return [{ type: 'video', url: urlOf(part, 'video_url', place) }]
    case 'input_audio': {
      const audio = objectOf(part, 'input_audio', `${place}.`)
      return [{ type: 'audio', data: textOf(audio, 'data', `${place}.`), format: textOf(audio, 'format', `${place}.`) }]
    }
    case 'audio_url':
      return [{ type: 'audio', data: '', format: '' }]
    default:
      return []
  }
}

/** `{ url }`, or the URL itself as some clients send it. */
const urlOf = (part: JsonObject, name: string, place: string): string => {
  const value = given(part, name)
  return typeof value === 'string' ? value : textOf(objectOf(part, name, `${place}.`), 'url', `${place}.${name}.`)
}
