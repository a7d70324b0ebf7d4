import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { asyncApi, decoderOf, SCHEMAS } from './asyncapi.ts'

describe('the AsyncAPI document', () => {
  it('names messages that the schemas have, each in the file that it says', () => {
    const { channels, operations, components } = asyncApi
    for (const [name, { payload }] of Object.entries(components.messages)) {
      expect(readFileSync(SCHEMAS + payload.schema.$ref, 'utf8')).toContain(`message ${name} {`)
      expect(decoderOf(name)).toBeTypeOf('function')
    }
    const used = [
      ...Object.values(channels).flatMap(({ messages }) => Object.keys(messages)),
      ...Object.values(operations).flatMap(({ reply }) => reply?.messages.map(({ $ref }) => $ref.replace(/^.*\//, '')) ?? []),
    ]
    expect(new Set(used)).toEqual(new Set(Object.keys(components.messages)))
    expect(new Set(Object.values(operations).map(({ channel }) => channel.$ref.replace('#/channels/', '')))).toEqual(new Set(Object.keys(channels)))
  })
})
