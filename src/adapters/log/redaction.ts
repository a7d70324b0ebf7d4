/** What stands in place of a value that is not logged. */
const REDACTED = '[redacted]'

/** Deeper than this nothing is logged: whatever is there was not meant to be. */
const DEPTH_MAX = 6

/**
 * Fields that may hold a prompt, an answer, or a secret, in lower case and without - and _. Their values are never
 * logged, wherever they stand.
 */
const HIDDEN = new Set([
  // prompts and answers, as text or as token ids
  'prompt', 'prompts', 'messages', 'content', 'contents', 'text', 'texts', 'input', 'inputs', 'instructions', 'system',
  'body', 'rawbody', 'requestbody', 'responsebody', 'payload', 'tokens', 'tokenids', 'prompttokenids', 'delta', 'choices',
  'tools', 'completion', 'output', 'reasoning', 'query', 'documents',
  // secrets
  'authorization', 'proxyauthorization', 'cookie', 'setcookie', 'apikey', 'xapikey', 'token', 'accesstoken', 'password',
  'secret', 'clientkey', 'privatekey', 'hashseed', 'prompthashsecret',
])

const isHidden = (name: string): boolean => HIDDEN.has(name.toLowerCase().replace(/[-_]/g, ''))

/** A copy of what is to be logged, without what must not be. */
export const redacted = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> => withoutHidden(fields, 1)

const withoutHidden = (fields: object, depth: number): Record<string, unknown> => {
  const clean: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) clean[name] = isHidden(name) ? REDACTED : redactedValue(value, depth)
  return clean
}

const redactedValue = (value: unknown, depth: number): unknown => {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return REDACTED
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, depth + 1))
  if (value instanceof Map) return withoutHidden(Object.fromEntries(value as Map<string, unknown>), depth + 1)
  if (value instanceof Set) return [...value].map((item) => redactedValue(item, depth + 1))
  if (value instanceof Date) return value.toISOString()
  return withoutHidden(value, depth + 1)
}
