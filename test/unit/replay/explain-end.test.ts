import { describe, expect, it } from 'vitest'
import { explanationText } from '../../../src/cli/explain-text.ts'
import { engineOptions, explain } from '../../../src/replay/index.ts'
import { singleProfile } from '../../story/configuration.ts'
import { ended, engineStarted, joined, received, sent, started } from '../../story/inputs.ts'
import { journalOf } from '../../story/journal.ts'
import { World } from '../../story/world.ts'

const options = engineOptions([], { receiptBytes: 1 << 16 })
const kindsOf = (world: World, id: string): readonly (string | undefined)[] => explain(options, journalOf(world.records), id).flatMap(({ records }) => records.map(({ input }) => input?.input?.kind))
const textOf = (world: World, id: string): string => explain(options, journalOf(world.records), id).map((each) => explanationText(each, false)).join('')

/** Two endpoints and a request of this id that has been sent and answers. */
const streaming = (proxied = true): { readonly world: World; readonly key: number } => {
  const world = new World(singleProfile()).take(joined('a'), joined('b'))
  const { key } = world.request(received('cut', { proxied }))
  world.take(sent(key), started(key))
  return { world, key }
}

describe('what happened to a request', () => {
  it('given the process dies under it, then the restart is its end', () => {
    const { world } = streaming()
    world.take(engineStarted(singleProfile(), 9n), joined('c'))
    expect(kindsOf(world, 'cut')).toEqual(['requestReceived', 'requestSent', 'responseStarted', 'engineStarted'])
    expect(textOf(world, 'cut')).toContain('its connection died with the process: scheduler-restarted')
  })

  it('given it gives no sign of life, then the timer is its end', () => {
    const { world } = streaming()
    world.pass(600_000)
    expect(kindsOf(world, 'cut')).toEqual(['requestReceived', 'requestSent', 'responseStarted', 'timerFired'])
    expect(textOf(world, 'cut')).toContain('given up: its time was over')
  })

  it('given it came to its own end, then what follows is not told', () => {
    const { world, key } = streaming()
    world.take(ended(key), engineStarted(singleProfile(), 9n))
    expect(kindsOf(world, 'cut')).toEqual(['requestReceived', 'requestSent', 'responseStarted', 'responseEnded'])
  })

  it('given it was turned away, then its arrival was its end', () => {
    const world = new World(singleProfile())
    world.request(received('cut'))
    world.take(joined('a'), engineStarted(singleProfile(), 9n))
    expect(kindsOf(world, 'cut')).toEqual(['requestReceived'])
  })

  it('given its data plane lives on through a restart, then it has no end yet', () => {
    const { world } = streaming(false)
    world.take(engineStarted(singleProfile(), 9n))
    expect(kindsOf(world, 'cut')).toEqual(['requestReceived', 'requestSent', 'responseStarted'])
  })
})
