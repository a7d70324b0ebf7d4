import { membersOf } from '../../core/json-scan.ts'

/** Changes to the top level of a JSON object: members to set, by name with their JSON, and names to take out. */
export interface BodyChanges {
  readonly set: readonly (readonly [name: string, json: string])[]
  readonly drop?: readonly string[]
}

/** A body that is not what it has to be; the message says what. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
}

const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * The object with some top-level members set in place or added at its end, and some taken out. All else stays as it is,
 * byte for byte: numbers too large for a double, spacing, order. The body must be a valid JSON object.
 */
export const edited = (body: Uint8Array, { set, drop = [] }: BodyChanges): Uint8Array => {
  // One character a byte, so places in the text are places in the bytes.
  const text = new TextDecoder('latin1').decode(body)
  const open = text.indexOf('{')
  const values = new Map(set)
  const encoder = new TextEncoder()
  const pieces: Uint8Array[] = [body.subarray(0, open + 1)]
  const found = new Set<string>()
  let from = open + 1
  let isFirst = true
  const comma = (): void => {
    if (!isFirst) pieces.push(encoder.encode(','))
    isFirst = false
  }
  for (const { name, start, end } of membersOf(text, open)) {
    const tail = tailEnd(body, end)
    if (!drop.includes(name)) {
      comma()
      const value = values.get(name)
      found.add(name)
      if (value === undefined) pieces.push(body.subarray(from, tail))
      else pieces.push(body.subarray(from, start), encoder.encode(value), body.subarray(end, tail))
    }
    from = body[tail] === COMMA ? tail + 1 : tail
  }
  for (const [name, json] of set) {
    if (found.has(name)) continue
    comma()
    pieces.push(encoder.encode(`${JSON.stringify(name)}:${json}`))
  }
  pieces.push(body.subarray(from))
  return joined(pieces)
}

/** Up to the comma or brace behind a value. */
const tailEnd = (body: Uint8Array, end: number): number => {
  let at = end
  while (at < body.length && body[at] !== COMMA && body[at] !== CLOSE_OBJECT) at++
  return at
}

/** Whether JSON text is an object, `null` or something else; throws SyntaxError where it is no JSON. */
export const kindOf = (body: Uint8Array): 'object' | 'null' | 'other' => {
  const value: unknown = JSON.parse(new TextDecoder().decode(body))
  if (value === null) return 'null'
  return typeof value === 'object' && !Array.isArray(value) ? 'object' : 'other'
}

/** What kind of JSON value begins there. */
export const valueKindAt = (body: Uint8Array, start: number): 'object' | 'list' | 'other' =>
  body[start] === OPEN_OBJECT ? 'object' : body[start] === 0x5b ? 'list' : 'other'

const joined = (pieces: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
