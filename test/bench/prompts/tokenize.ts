/**
 * What a chat of 48 kB costs a front door before the turn: reading it, and its shape with the keys of 64-token blocks.
 * `node test/bench/prompts/tokenize.ts`
 */

import type { Parser } from '../../../src/core/body.ts'
import type { PluginType } from '../../../src/core/contract.ts'
import { openaiParser } from '../../../src/plugins/parser/openai-parser/index.ts'
import { tokenProducer, type TokenProducer } from '../../../src/plugins/producer/token-producer/index.ts'
import { microseconds, report } from '../harness.ts'

const BYTES = 48_000
const made = (type: PluginType): unknown => type.create({ name: type.type, parameters: undefined, plugin: () => undefined, warn: () => undefined })
const parser = made(openaiParser) as Parser
const tokens = made(tokenProducer) as TokenProducer
const wanted = [{ kind: 'approx', blockTokens: 64, maxBlocks: 2048 }]
const headers = new Map<string, string>()

const chat = (sentence: string, turns: number): Uint8Array => {
  const length = Math.floor(BYTES / turns / new TextEncoder().encode(sentence).length)
  const messages = Array.from({ length: turns }, (_, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: sentence.repeat(length) }))
  return new TextEncoder().encode(JSON.stringify({ model: 'm', stream: true, messages }))
}

const BODIES = [
  ['English, 20 turns', chat('The quick brown fox jumps over the lazy dog. ', 20)],
  ['Polish and Japanese, 1 turn', chat('Zażółć gęślą jaźń, 日本語の文章です。 ', 1)],
  ['much escaped, 20 turns', chat('if (a == "b") {\n\treturn "c\\d"\n}\n', 20)],
] as const

for (const [name, body] of BODIES) {
  const parsed = parser.parse(body, '/v1/chat/completions', headers)
  const text = new TextDecoder().decode(body)
  report(`${name}: ${body.length} B`, [
    { name: 'JSON.parse alone', value: microseconds(1000, () => void JSON.parse(text)), unit: 'µs' },
    { name: 'parse', value: microseconds(1000, () => void parser.parse(body, '/v1/chat/completions', headers)), unit: 'µs' },
    { name: 'shape without keys', value: microseconds(1000, () => void tokens.shape(parsed, headers, 'm', [])), unit: 'µs', goal: 100 },
    { name: 'shape with keys of 64-token blocks', value: microseconds(1000, () => void tokens.shape(parsed, headers, 'm', wanted)), unit: 'µs', goal: 100 },
  ])
}
