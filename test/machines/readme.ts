/** The machines' READMEs and the diagrams in them. */

import { readFileSync, writeFileSync } from 'node:fs'
import type { AnyStateMachine } from 'xstate'
import { toMermaid } from '../../machines/diagram/mermaid.ts'

const BEGIN = '<!-- diagram, written by `node test/machines/write-diagrams.ts` -->\n'
const END = '<!-- end of diagram -->\n'

function place(folder: string): URL {
  return new URL(`../../machines/${folder}/README.md`, import.meta.url)
}

export function readReadme(folder: string): string {
  return readFileSync(place(folder), 'utf8')
}

/** The README with the machine's diagram between the markers. */
export function withDiagram(readme: string, machine: AnyStateMachine): string {
  const begin = readme.indexOf(BEGIN)
  const end = readme.indexOf(END)
  if (begin < 0 || end < begin) throw new Error('the README has no place for a diagram')
  const drawn = `\`\`\`mermaid\n${toMermaid(machine)}\`\`\`\n`
  return readme.slice(0, begin + BEGIN.length) + drawn + readme.slice(end)
}

export function writeDiagram(folder: string, machine: AnyStateMachine): void {
  writeFileSync(place(folder), withDiagram(readReadme(folder), machine))
}
