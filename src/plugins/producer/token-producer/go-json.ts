import type { Json } from '../../../core/body.ts'

/**
 * JSON as Go's encoder writes it, since its bytes are the tokens: keys in order of their UTF-8 bytes, no blanks, `<`, `>`,
 * `&`, U+2028 and U+2029 escaped, numbers as the shortest form of a double. (Go: encoding/json)
 */
export const goJson = (value: Json): string => {
  const pieces: string[] = []
  // A list of things still to write, last first: a value nested thousands deep must not exhaust the stack.
  const pending: (Json | Written)[] = [value]
  while (pending.length > 0) {
    const next = pending.pop() as Json | Written
    if (next instanceof Written) pieces.push(next.text)
    else if (typeof next === 'string') pieces.push(goString(next))
    else if (typeof next === 'number') pieces.push(goNumber(next))
    else if (Array.isArray(next)) openList(next as readonly Json[], pending)
    else if (typeof next === 'object' && next !== null) openObject(next as { readonly [name: string]: Json }, pending)
    else pieces.push(String(next))
  }
  return pieces.join('')
}

class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

const COMMA = new Written(',')

const openList = (items: readonly Json[], pending: (Json | Written)[]): void => {
  pending.push(new Written(']'))
  for (let i = items.length - 1; i >= 0; i--) {
    pending.push(items[i] as Json)
    if (i > 0) pending.push(COMMA)
  }
  pending.push(new Written('['))
}

const openObject = (object: { readonly [name: string]: Json }, pending: (Json | Written)[]): void => {
  const names = Object.keys(object).sort(byUtf8)
  pending.push(new Written('}'))
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i] as string
    pending.push(object[name] as Json, new Written(`${i > 0 ? ',' : ''}${goString(name)}:`))
  }
  pending.push(new Written('{'))
}

const NEEDS_ESCAPE = /[<>&\u2028\u2029]|\\[\\"bf]/g

/** A string between quotes. */
export const goString = (text: string): string => JSON.stringify(text.toWellFormed()).replace(NEEDS_ESCAPE, escaped)

const escaped = (found: string): string => {
  switch (found) {
    case '\\b':
      return '\\u0008'
    case '\\f':
      return '\\u000c'
    case '\\\\':
    case '\\"':
      return found
    default:
      return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  }
}

/** JavaScript's shortest form is Go's, but for minus zero. */
const goNumber = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))

/** In order of UTF-8 bytes, which is that of code points; code units have surrogates before U+E000. */
const byUtf8 = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xe000

/** JSON text without its blanks; order, numbers and repeated members stay as they are. (Go: a compacted json.RawMessage) */
export const compacted = (json: string): string =>
  json.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+|[<>&\u2028\u2029]/gs, (found) =>
    found.startsWith('"') ? found.replace(/[<>&\u2028\u2029]/g, escaped) : '',
  )
