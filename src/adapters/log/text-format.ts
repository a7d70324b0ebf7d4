import { EOL } from 'node:os'

const LEVEL_WIDTH = 5
const DIM = '\u001b[2m'
const PLAIN = '\u001b[0m'
const COLOURS: Readonly<Record<string, string>> = { fatal: '\u001b[31m', error: '\u001b[31m', warn: '\u001b[33m', info: '\u001b[32m', debug: '\u001b[36m', trace: '\u001b[35m' }
/** What is written otherwise, or says nothing to a person. */
const SHOWN = new Set(['time', 'level', 'msg', 'err'])

/**
 * One logged line for a person: time of day, level, message, then the fields as name=value; the stack of an error stands
 * below.
 * @param json the line as it would be logged in JSON
 */
export const textLine = (json: string, inColour: boolean): string => {
  const line = JSON.parse(json) as Readonly<Record<string, unknown>>
  const level = String(line['level'])
  const paint = (code: string, text: string): string => (inColour ? `${code}${text}${PLAIN}` : text)
  const fields = Object.entries(line).filter(([name]) => !SHOWN.has(name))
  const parts = [
    paint(DIM, String(line['time']).slice('2025-01-01T'.length, -1)),
    paint(COLOURS[level] ?? '', level.toUpperCase().padEnd(LEVEL_WIDTH)),
    oneLine(String(line['msg'] ?? '')),
    ...fields.map(([name, value]) => `${paint(DIM, `${name}=`)}${valueText(value)}`),
  ]
  return `${parts.join(' ')}${errorText(line['err'])}${EOL}`
}

const valueText = (value: unknown): string => {
  if (typeof value !== 'string') return JSON.stringify(value)
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}

const errorText = (error: unknown): string => {
  if (typeof error !== 'object' || error === null) return ''
  const { message, code, place, fix, stack } = error as Readonly<Record<string, unknown>>
  const known = typeof fix === 'string'
  const where = typeof place === 'string' ? ` (${place})` : ''
  const head = `${String(message)}${where}${typeof code === 'string' ? ` [${code}]` : ''}`
  const rest = known ? [fix] : String(stack ?? '').split('\n').slice(1).map((line) => line.trim())
  return ['', head, ...rest.filter((line) => line !== '')].map((line, index) => (index === 0 ? line : `  ${oneLine(line)}`)).join(EOL)
}

/** A line end within a message would make one line look like two. */
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ⏎ ')
