import { describe, expect, it } from 'vitest'
import type { Input } from '../../../src/wire/input.ts'
import { disaggregated } from '../../story/configuration.ts'
import { ended, joined, received } from '../../story/inputs.ts'
import { target, World } from '../../story/world.ts'

/** The endpoint is announced anew, in the same life, with another role. */
const updated = (name: string, role: string): Input => {
  const { input } = joined(name, role)
  if (input?.kind !== 'endpointJoined') throw new Error('not an announcement')
  return { input: { kind: 'endpointUpdated', value: input.value } }
}

describe('a role filter', () => {
  it('goes by the labels of now, whatever the endpoint said before', () => {
    const world = new World(disaggregated(100_000)).take(joined('a', 'decode'), joined('b', 'prefill'))
    const next = (id: string): string => {
      const { key, decision } = world.request(received(id))
      world.take(ended(key))
      return target(decision)
    }
    expect([next('1'), next('2')]).toEqual(['a', 'a'])
    world.take(updated('b', 'decode'), updated('a', 'prefill'))
    expect([next('3'), next('4')]).toEqual(['b', 'b'])
    world.take(updated('a', 'decode'), updated('b', 'prefill'))
    expect(next('5')).toBe('a')
  })
})
