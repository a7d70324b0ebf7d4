import { itemsOf, memberOf, valueEnd } from '../core/json-scan.ts'

/** Where the messages are, by API; a string there is the text itself. */
const TEXT_FIELDS: Readonly<Record<string, string>> = { chat: 'messages', messages: 'messages', completions: 'prompt', responses: 'input' }

/**
 * The text by which prompts are compared: of messages the contents with a space between, a string as it reads, anything
 * else as its JSON stands; of a completion the prompt. Empty where an API has none. The body must be valid JSON.
 * (AIBrix: routing message)
 */
export const routingTextOf = (api: string, body: string): string => {
  const field = TEXT_FIELDS[api]
  const member = field === undefined ? undefined : memberOf(body, 0, field)
  if (member === undefined) return ''
  if (body[member.start] === '"') return JSON.parse(body.slice(member.start, member.end)) as string
  if (body[member.start] !== '[' || field === 'prompt') return ''
  return itemsOf(body, member.start).flatMap((at) => contentOf(body, at)).join(' ')
}

const contentOf = (body: string, at: number): readonly string[] => {
  if (body[at] === '"') return [JSON.parse(body.slice(at, valueEnd(body, at))) as string]
  const content = body[at] === '{' ? memberOf(body, at, 'content') : undefined
  if (content === undefined) return []
  const raw = body.slice(content.start, content.end)
  if (raw === 'null') return []
  return [raw.startsWith('"') ? (JSON.parse(raw) as string) : raw]
}
