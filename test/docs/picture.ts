import { readFileSync } from 'node:fs'
import { START_CONFIGURATION } from '../../src/app/start.ts'
import { explanationText } from '../../src/cli/explain-text.ts'
import { loadConfiguration } from '../../src/config/load.ts'
import { pluginTypes } from '../../src/plugins/index.ts'
import { engineOptions, explain } from '../../src/replay/index.ts'
import { ended, joined, prompt, received, sent, started, telemetry } from '../story/inputs.ts'
import { journalOf } from '../story/journal.ts'
import { World } from '../story/world.ts'

const FLEET = [['decode-0', 'decode'], ['decode-1', 'decode'], ['decode-2', 'decode'], ['decode-3', 'decode'], ['encode-0', 'encode'], ['prefill-0', 'prefill'], ['prefill-1', 'prefill']] as const
const WAITING = [2, 0, 5, 9, 0, 1, 4]
const DIALOGUE = Array.from({ length: 40 }, (_, i) => i + 1)
const REQUEST = 'timetable-7'

const CHARACTER = 7.8
const LINE = 18
const MARGIN = 20
const BAR = 30

/** What `explain` says of a request that continues a conversation, in the fleet that `npm start` runs. */
const explained = (): string => {
  const { completed } = loadConfiguration({ texts: [{ file: 'start', text: readFileSync(START_CONFIGURATION, 'utf8') }], pluginTypes })
  const world = new World(completed).take(...FLEET.map(([name, role]) => joined(name, role)))
  world.take(telemetry(FLEET.map((_, slot) => ({ slot, waiting: slot === 3 ? 0 : 3 }))))
  const { key } = world.request(received('timetable-6', { shape: { tokenized: true, prompts: [prompt(2600, DIALOGUE)], problem: '' } }))
  world.take(sent(key), started(key), ended(key))
  world.step(telemetry(FLEET.map((_, slot) => ({ slot, waiting: WAITING[slot] ?? 0 }))), 50)
  const next = world.request(received(REQUEST, { shape: { tokenized: true, prompts: [prompt(4000, DIALOGUE, 9000)], problem: '' } }))
  world.step(sent(next.key), 2)
  world.step(started(next.key), 340)
  world.step(ended(next.key), 2210)
  return explain(engineOptions(), journalOf(world.records), REQUEST).map((each) => explanationText(each, false)).join('\n')
}

/** The picture of the README: a terminal with the command and its output, as SVG. */
export const picture = (): string => {
  const lines = [`$ signalbox explain .signalbox ${REQUEST}`, ...explained().trimEnd().split('\n')]
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER) + 2 * MARGIN
  const height = BAR + 2 * MARGIN + lines.length * LINE
  const rows = lines.map((line, i) => `  <text x="${MARGIN}" y="${BAR + MARGIN + i * LINE + 6}" class="${kindOf(line)}" xml:space="preserve">${escaped(line)}</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="What signalbox explain says of a request">
  <style>
    text { font: 13px ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #c9d1d9; }
    .command { fill: #7ee787; } .chosen { fill: #ffd866; } .sentence { fill: #ffffff; } .quiet { fill: #8b949e; }
  </style>
  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
  <circle cx="20" cy="18" r="5" fill="#f85149"/><circle cx="38" cy="18" r="5" fill="#d29922"/><circle cx="56" cy="18" r="5" fill="#3fb950"/>
${rows.join('\n')}
</svg>
`
}

const kindOf = (line: string): string => {
  if (line.startsWith('$')) return 'command'
  if (/^ {4} *> /.test(line)) return 'chosen'
  if (/^ {2}(?:decode|prefill|encode) on /.test(line)) return 'sentence'
  return /^ {2}\d+ /.test(line) || /^ {7}endpoint /.test(line) ? 'quiet' : 'plain'
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
