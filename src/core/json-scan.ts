/**
 * Finds places in JSON text without making values of it: for what must stay exactly as it was sent (numbers too large
 * for a double, order and spacing of members). The text is taken to be valid JSON, unless a function says otherwise.
 * Nothing here recurses, so depth costs nothing.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const BLANK = 0x20

/** A member of an object: its name, unescaped, and where its name and its value begin and end. */
export interface Member {
  readonly name: string
  readonly nameStart: number
  readonly start: number
  readonly end: number
}

/** The members of the object that begins at or after `at`, in order, repeated names included. */
export const membersOf = (text: string, at = 0): readonly Member[] => {
  const members: Member[] = []
  let next = blanksSkipped(text, blanksSkipped(text, at) + 1)
  while (text.charCodeAt(next) === QUOTE) {
    const nameStart = next
    const nameEnd = stringEnd(text, nameStart)
    const start = blanksSkipped(text, blanksSkipped(text, nameEnd) + 1)
    const end = valueEnd(text, start)
    members.push({ name: unescaped(text.slice(nameStart, nameEnd)), nameStart, start, end })
    next = blanksSkipped(text, end)
    if (text.charCodeAt(next) === COMMA) next = blanksSkipped(text, next + 1)
  }
  return members
}

/** The value of the last member of that name, as most readers take it, or undefined. */
export const memberOf = (text: string, at: number, name: string): Member | undefined => membersOf(text, at).findLast((member) => member.name === name)

/** Where the items of the list that begins at or after `at` begin, in order. */
export const itemsOf = (text: string, at: number): readonly number[] => {
  const starts: number[] = []
  let next = blanksSkipped(text, blanksSkipped(text, at) + 1)
  while (next < text.length && text.charCodeAt(next) !== CLOSE_LIST) {
    starts.push(next)
    next = blanksSkipped(text, valueEnd(text, next))
    if (text.charCodeAt(next) === COMMA) next = blanksSkipped(text, next + 1)
  }
  return starts
}

/** Just behind the value that begins at `at`. */
export const valueEnd = (text: string, at: number): number => {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return stringEnd(text, at)
  if (first === OPEN_OBJECT || first === OPEN_LIST) {
    let depth = 0
    for (let i = at; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (code === QUOTE) i = stringEnd(text, i) - 1
      else if (code === OPEN_OBJECT || code === OPEN_LIST) depth++
      else if ((code === CLOSE_OBJECT || code === CLOSE_LIST) && --depth === 0) return i + 1
    }
    return text.length
  }
  let end = at
  while (end < text.length && !endsScalar(text.charCodeAt(end))) end++
  return end
}

/** Whether the text, valid or not, opens more than `max` lists and objects within each other. */
export const isDeeperThan = (text: string, max: number): boolean => {
  // Hardly any text has so many brackets at all, and the engine's own search finds that out at once.
  if (occurrences(text, '[', max) + occurrences(text, '{', max) <= max) return false
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = stringEnd(text, i) - 1
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (++depth > max) return true
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth--
  }
  return false
}

/**
 * The body with the top-level member `name` set to a JSON value; every other byte stays as it is. A member that is not
 * there comes first. Returns undefined where the body is not an object.
 */
export const withMember = (body: Uint8Array, name: string, json: string): Uint8Array | undefined => {
  // One character a byte: places in the text are places in the bytes, and JSON's own characters are ASCII.
  const text = new TextDecoder('latin1').decode(body)
  const open = blanksSkipped(text, 0)
  if (text.charCodeAt(open) !== OPEN_OBJECT) return undefined
  const members = membersOf(text, open)
  const encoder = new TextEncoder()
  const value = encoder.encode(json)
  const found = members.filter((member) => member.name === name)
  if (found.length === 0) {
    const added = encoder.encode(`${JSON.stringify(name)}:${json}${members.length === 0 ? '' : ','}`)
    return joined([body.subarray(0, open + 1), added, body.subarray(open + 1)])
  }
  const pieces: Uint8Array[] = []
  let from = 0
  for (const member of found) {
    pieces.push(body.subarray(from, member.start), value)
    from = member.end
  }
  return joined([...pieces, body.subarray(from)])
}

/** How often a character occurs; counted no further than just above `max`. */
const occurrences = (text: string, character: string, max: number): number => {
  let count = 0
  for (let at = text.indexOf(character); at >= 0 && count <= max; at = text.indexOf(character, at + 1)) count++
  return count
}

const joined = (pieces: readonly Uint8Array[]): Uint8Array => {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Characters looked at one by one before the engine's own search is called, which is fast and dear to call. */
const NEAR = 32

/** Just behind the string whose opening quote is at `at`; the end of the text where it does not end. */
const stringEnd = (text: string, at: number): number => {
  let next = at + 1
  for (;;) {
    for (const near = Math.min(next + NEAR, text.length); next < near; next++) {
      const code = text.charCodeAt(next)
      if (code === QUOTE) return next + 1
      if (code === BACKSLASH) next++
    }
    const quote = text.indexOf('"', next)
    if (quote < 0) return text.length
    let before = quote
    while (before > next && text.charCodeAt(before - 1) === BACKSLASH) before--
    next = quote + 1
    if ((quote - before) % 2 === 0) return next
  }
}

const blanksSkipped = (text: string, at: number): number => {
  let next = at
  while (text.charCodeAt(next) <= BLANK) next++
  return next
}

const endsScalar = (code: number): boolean =>
  code <= BLANK || code === COMMA || code === COLON || code === CLOSE_LIST || code === CLOSE_OBJECT

const unescaped = (quoted: string): string => (quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1))
