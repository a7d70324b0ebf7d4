const QUOTE = 34
const BACKSLASH = 92
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const OPEN_LIST = 91
const CLOSE_LIST = 93
const COMMA = 44
const COLON = 58

/** Where a member of a JSON object stands in its bytes; ends are exclusive. */
interface Member {
  readonly valueStart: number
  readonly valueEnd: number
}

/** A replacement of the bytes from `start` to `end`; an insertion where they are the same. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The members of one name in an object, and where the object's first member would begin. */
export interface ObjectScan {
  /** All of that name: a repeated key is legal, and readers differ in which one they take. */
  readonly members: readonly Member[]
  /** Right behind the opening brace. */
  readonly inside: number
  readonly isEmpty: boolean
}

/**
 * Finds the members called `key` of the JSON object that begins at `from` (white space before it is passed over), without
 * reading what lies deeper. Undefined when there is no object, or it is broken before its end.
 */
export const scanObject = (bytes: Buffer, key: string, from = 0): ObjectScan | undefined => {
  let at = skipSpace(bytes, from)
  if (bytes[at] !== OPEN_OBJECT) return undefined
  const inside = at + 1
  const members: Member[] = []
  at = skipSpace(bytes, inside)
  if (bytes[at] === CLOSE_OBJECT) return { members, inside, isEmpty: true }
  for (;;) {
    if (bytes[at] !== QUOTE) return undefined
    const keyEnd = stringEnd(bytes, at)
    const colon = skipSpace(bytes, keyEnd)
    if (bytes[colon] !== COLON) return undefined
    const valueStart = skipSpace(bytes, colon + 1)
    const valueEnd = endOfValue(bytes, valueStart)
    if (valueEnd <= valueStart) return undefined
    if (isKey(bytes, at, keyEnd, key)) members.push({ valueStart, valueEnd })
    at = skipSpace(bytes, valueEnd)
    if (bytes[at] === CLOSE_OBJECT) return { members, inside, isEmpty: false }
    if (bytes[at] !== COMMA) return undefined
    at = skipSpace(bytes, at + 1)
  }
}

/** The bytes with the edits made, which must not overlap; the same bytes when there are none. */
export const splice = (bytes: Buffer, edits: readonly Edit[]): Buffer => {
  if (edits.length === 0) return bytes
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(bytes.subarray(at, start), Buffer.from(text))
    at = end
  }
  parts.push(bytes.subarray(at))
  return Buffer.concat(parts)
}

/** Edits that make `key` of the top-level object `text` (JSON): in place wherever it is, else as its first member. */
export const editsToSet = (bytes: Buffer, key: string, text: string, from = 0): readonly Edit[] => {
  const scan = scanObject(bytes, key, from)
  if (scan === undefined) return []
  if (scan.members.length === 0) {
    const inserted = `${JSON.stringify(key)}:${text}${scan.isEmpty ? '' : ','}`
    return [{ start: scan.inside, end: scan.inside, text: inserted }]
  }
  return scan.members.map(({ valueStart, valueEnd }) => ({ start: valueStart, end: valueEnd, text }))
}

const skipSpace = (bytes: Buffer, from: number): number => {
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break
    at++
  }
  return at
}

/** Bytes of a string that are looked at one by one before the search is left to the engine's own: most strings are shorter. */
const BY_HAND = 64

/** Behind the closing quote of the string that opens at `at`; the end of the bytes when it is not closed. */
const stringEnd = (bytes: Buffer, at: number): number => {
  let i = at + 1
  for (;;) {
    const stop = Math.min(bytes.length, i + BY_HAND)
    while (i < stop) {
      const byte = bytes[i]
      if (byte === QUOTE) return i + 1
      i += byte === BACKSLASH ? 2 : 1
    }
    const quote = i < bytes.length ? bytes.indexOf(QUOTE, i) : -1
    if (quote < 0) return bytes.length
    let backslashes = 0
    while (quote - backslashes > i && bytes[quote - backslashes - 1] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote + 1
    i = quote + 1
  }
}

const endOfValue = (bytes: Buffer, start: number): number => {
  const first = bytes[start]
  if (first === QUOTE) return stringEnd(bytes, start)
  if (first !== OPEN_OBJECT && first !== OPEN_LIST) return endOfScalar(bytes, start)
  let depth = 0
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = stringEnd(bytes, at)
      continue
    }
    at++
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      depth--
      if (depth === 0) return at
    }
  }
  return start
}

const endOfScalar = (bytes: Buffer, start: number): number => {
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_LIST || byte === 32 || byte === 10 || byte === 13 || byte === 9) break
    at++
  }
  return at
}

const isKey = (bytes: Buffer, start: number, end: number, key: string): boolean => {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes('\\')) return text.length === key.length + 2 && text.slice(1, -1) === key
  try {
    return JSON.parse(text) === key
  } catch {
    return false
  }
}
