import { badRequest, type InferenceBody, type Json, type MessagesTool, type Part, type Turn } from '../../../core/body.ts'
import { itemsOf, memberOf } from '../../../core/json-scan.ts'
import { flagOf, given, isList, isObject, type JsonBody, type JsonObject, listOf, objectOf, textOf } from '../json-request.ts'

/**
 * Views a body of Anthropic's messages API; members that are absent are empty. The input of a tool and its schema are
 * taken from the text, since their exact JSON is part of the prompt.
 * @throws SchedulingError (BadRequest) where a member is of a wrong type.
 */
export const messagesBody = ({ text, object }: JsonBody): InferenceBody => {
  const turns = listOf(object, 'messages')
  const tools = listOf(object, 'tools')
  const turnPlaces = turns.some(usesTool) ? placesOf(text, 0, 'messages') : []
  const toolPlaces = tools.length === 0 ? [] : placesOf(text, 0, 'tools')
  return {
    kind: 'messages',
    system: systemOf(object),
    turns: turns.map((turn, index) => turnOf(turn, `messages[${index}]`, text, turnPlaces[index])),
    tools: tools.map((tool, index) => toolOf(tool, `tools[${index}]`, text, toolPlaces[index] ?? 0)),
    cacheSalt: textOf(object, 'cache_salt'),
  }
}

const systemOf = (object: JsonObject): string | readonly string[] => {
  const system = given(object, 'system') ?? ''
  if (typeof system === 'string') return system
  if (!isList(system)) throw badRequest('system must be a string or a list of blocks')
  return textsOf(system, 'system')
}

const textsOf = (blocks: readonly Json[], place: string): readonly string[] =>
  blocks.flatMap((block, index) => {
    if (!isObject(block)) throw badRequest(`${place}[${index}] must be an object`)
    return block['type'] === 'text' ? [textOf(block, 'text', `${place}[${index}].`)] : []
  })

const usesTool = (turn: Json): boolean =>
  isObject(turn) && isList(turn['content']) && turn['content'].some((block) => isObject(block) && block['type'] === 'tool_use')

/** Where in the text the items of a list member begin. */
const placesOf = (text: string, at: number, name: string): readonly number[] => {
  const member = memberOf(text, at, name)
  return member === undefined ? [] : itemsOf(text, member.start)
}

/** `at` is where the turn begins in the text, undefined where nothing of it is needed from there. */
const turnOf = (turn: Json, place: string, text: string, at: number | undefined): Turn => {
  if (!isObject(turn)) throw badRequest(`${place} must be an object`)
  const role = textOf(turn, 'role', `${place}.`)
  const content = given(turn, 'content') ?? ''
  if (typeof content === 'string') return { role, content }
  if (!isList(content)) throw badRequest(`${place}.content must be a string or a list of blocks`)
  const places = at !== undefined && usesTool(turn) ? placesOf(text, at, 'content') : []
  return { role, content: content.flatMap((block, index) => partOf(block, `${place}.content[${index}]`, text, places[index] ?? 0)) }
}

const partOf = (block: Json, place: string, text: string, at: number): readonly Part[] => {
  if (!isObject(block)) throw badRequest(`${place} must be an object`)
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: textOf(block, 'text', `${place}.`) }]
    case 'thinking':
      return [{ type: 'thinking', text: textOf(block, 'thinking', `${place}.`) }]
    case 'image':
      return imageOf(block, place)
    case 'tool_use':
      return [{ type: 'tool-use', id: textOf(block, 'id', `${place}.`), name: textOf(block, 'name', `${place}.`), input: rawOf(text, at, 'input') ?? '' }]
    case 'tool_result':
      return [{ type: 'tool-result', content: resultOf(block, place) }]
    default:
      return []
  }
}

const resultOf = (block: JsonObject, place: string): string | readonly Part[] => {
  const content = given(block, 'content') ?? ''
  if (typeof content === 'string') return content
  if (!isList(content)) throw badRequest(`${place}.content must be a string or a list of blocks`)
  return content.flatMap((inner, index): readonly Part[] => {
    const where = `${place}.content[${index}]`
    if (!isObject(inner)) throw badRequest(`${where} must be an object`)
    if (inner['type'] === 'text') return [{ type: 'text', text: textOf(inner, 'text', `${where}.`) }]
    return inner['type'] === 'image' ? imageOf(inner, where) : []
  })
}

/** Nothing where the source has neither a URL nor data. */
const imageOf = (block: JsonObject, place: string): readonly Part[] => {
  const source = objectOf(block, 'source', `${place}.`)
  const url = textOf(source, 'url', `${place}.source.`)
  if (url !== '') return [{ type: 'image', url }]
  const data = textOf(source, 'data', `${place}.source.`)
  return data === '' ? [] : [{ type: 'image-data', mediaType: textOf(source, 'media_type', `${place}.source.`), data }]
}

const toolOf = (tool: Json, place: string, text: string, at: number): MessagesTool => {
  if (!isObject(tool)) throw badRequest(`${place} must be an object`)
  return {
    name: textOf(tool, 'name', `${place}.`),
    description: textOf(tool, 'description', `${place}.`),
    inputSchema: rawOf(text, at, 'input_schema'),
    strict: flagOf(tool, 'strict', `${place}.`),
    deferLoading: flagOf(tool, 'defer_loading', `${place}.`),
  }
}

/** The JSON of a member of the object at `at`, as it stands in the text. */
const rawOf = (text: string, at: number, name: string): string | undefined => {
  const member = memberOf(text, at, name)
  return member === undefined ? undefined : text.slice(member.start, member.end)
}
