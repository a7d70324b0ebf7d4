import type { Sample } from '../../core/exposition.ts'

/** Where in the text the rest of a sample's line stands, behind its name. */
export interface SamplePlace {
  readonly name: string
  readonly at: number
  readonly end: number
  readonly timestamps: 'ms' | 's'
}

const SPACE = 32
const TAB = 9
const QUOTE = 34
const HASH = 35
const COMMA = 44
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125

const MS_PER_S = 1000
const NO_LABELS: ReadonlyMap<string, string> = new Map()
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const NOT_FINITE = /^([+-]?)(?:(nan)|inf(?:inity)?)$/i
const BEYOND_ASCII = /[\x80-\xff]/

/** Reads labels, value and timestamp; a text says what is wrong. An exemplar behind them is passed over. */
export const readSample = (buffer: Buffer, text: string, place: SamplePlace): Sample | string => {
  const { name, end, timestamps } = place
  let at = blanksEnd(text, place.at, end)
  let labels = NO_LABELS
  if (at < end && text.charCodeAt(at) === OPEN) {
    const read = readLabels(buffer, text, at + 1, end)
    if (typeof read === 'string') return read
    labels = read.labels
    at = blanksEnd(text, read.at, end)
  } else if (at === place.at && at < end) return `unexpected "${text.charAt(at)}" behind the name`
  const valueEnd = wordEnd(text, at, end)
  const value = numberOf(text.slice(at, valueEnd))
  if (value === undefined) return `"${text.slice(at, valueEnd)}" is not a number`
  at = blanksEnd(text, valueEnd, end)
  if (at === end || text.charCodeAt(at) === HASH) return { name, labels, value }
  const timeEnd = wordEnd(text, at, end)
  const time = numberOf(text.slice(at, timeEnd))
  if (time === undefined || !Number.isFinite(time)) return `"${text.slice(at, timeEnd)}" is not a timestamp`
  at = blanksEnd(text, timeEnd, end)
  if (at !== end && text.charCodeAt(at) !== HASH) return `"${text.slice(at, wordEnd(text, at, end))}" behind the timestamp`
  return { name, labels, value, timestampMs: timestamps === 's' ? time * MS_PER_S : time }
}

const readLabels = (buffer: Buffer, text: string, from: number, end: number): { readonly labels: ReadonlyMap<string, string>; readonly at: number } | string => {
  const labels = new Map<string, string>()
  let at = blanksEnd(text, from, end)
  while (at < end && text.charCodeAt(at) !== CLOSE) {
    const equals = text.indexOf('=', at)
    if (equals < 0 || equals >= end) return 'a label without value'
    const name = text.slice(at, equals).trimEnd()
    if (!LABEL_NAME.test(name)) return `"${name}" is not a label name`
    const open = blanksEnd(text, equals + 1, end)
    if (text.charCodeAt(open) !== QUOTE) return `the value of label ${name} is not in quotes`
    const close = closingQuote(text, open + 1, end)
    if (close < 0) return `the value of label ${name} does not end`
    if (labels.has(name)) return `label ${name} stands twice`
    labels.set(name, labelValue(buffer, text, open + 1, close))
    at = blanksEnd(text, close + 1, end)
    if (text.charCodeAt(at) === COMMA) at = blanksEnd(text, at + 1, end)
    else if (text.charCodeAt(at) !== CLOSE) return `no comma behind label ${name}`
  }
  return at < end ? { labels, at: at + 1 } : 'the labels do not end'
}

const closingQuote = (text: string, from: number, end: number): number => {
  let at = text.indexOf('"', from)
  while (at >= 0 && at < end && isEscaped(text, at, from)) at = text.indexOf('"', at + 1)
  return at < end ? at : -1
}

/** Whether an odd number of backslashes stands before this place. */
const isEscaped = (text: string, at: number, from: number): boolean => {
  let backslashes = 0
  while (at - backslashes > from && text.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes += 1
  return backslashes % 2 === 1
}

const labelValue = (buffer: Buffer, text: string, from: number, end: number): string => {
  const raw = text.slice(from, end)
  const decoded = BEYOND_ASCII.test(raw) ? buffer.toString('utf8', from, end) : raw
  return decoded.includes('\\') ? decoded.replace(/\\(.)/g, (_whole: string, escaped: string) => (escaped === 'n' ? '\n' : escaped)) : decoded
}

/** As Go reads it, without hexadecimal and underscores. */
const numberOf = (word: string): number | undefined => {
  if (NUMBER.test(word)) return Number(word)
  const [, sign, nan] = NOT_FINITE.exec(word) ?? []
  if (sign === undefined) return undefined
  return nan !== undefined ? NaN : sign === '-' ? -Infinity : Infinity
}

const blanksEnd = (text: string, at: number, end: number): number => {
  while (at < end && isBlank(text.charCodeAt(at))) at += 1
  return at
}

const wordEnd = (text: string, at: number, end: number): number => {
  while (at < end && !isBlank(text.charCodeAt(at))) at += 1
  return at
}

const isBlank = (code: number): boolean => code === SPACE || code === TAB
