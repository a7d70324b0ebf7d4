import { afterEach, describe, expect, it } from 'vitest'
import { servePage } from '../../../src/app/ui/page-server.ts'
import type { PageServer } from '../../../src/app/ui/page-server.ts'
import { Session } from '../../../src/visualizer/worker/session.ts'
import { Unreachable } from '../../../src/visualizer/worker/source.ts'
import { singleProfile } from '../../story/configuration.ts'
import { ended, joined, received, sent } from '../../story/inputs.ts'
import { journalOf } from '../../story/journal.ts'
import { World } from '../../story/world.ts'

const world = new World(singleProfile()).take(joined('a'), joined('b'))
for (let i = 0; i < 20; i += 1) {
  const { key } = world.request(received(`r${i}`))
  world.take(sent(key), ended(key))
}
let server: PageServer | undefined = undefined

afterEach(async () => {
  await server?.close()
})

/** Serves the first records of one journal, as if it had grown until then. */
const serving = async (records: number, port = 0): Promise<number> => {
  await server?.close()
  server = await servePage({ host: '127.0.0.1', port }, 'growing', journalOf(world.records.slice(0, records), { batch: 1 }), true)
  return server.address.port
}

/** As the page does: asks again while nobody answers. A connection kept from before the restart fails once. */
const pulled = async (session: Session): ReturnType<Session['pull']> => {
  for (;;) {
    try {
      return await session.pull()
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error
    }
  }
}

describe('the page of a journal that grows', () => {
  it('pulls by position: an engine that is away for a while costs no record, and none comes twice', async () => {
    const port = await serving(10)
    const session = new Session(() => undefined)
    const opened = await session.open({ kind: 'server', url: `http://127.0.0.1:${port}/api`, position: undefined })
    while (session.advance().more);
    expect([opened.info.live, opened.info.lastPosition]).toEqual([true, 10])
    expect(await session.pull()).toBeUndefined()
    await serving(25, port)
    expect((await pulled(session))?.info.lastPosition).toBe(25)
    await server?.close()
    await expect(session.pull()).rejects.toThrow(`nobody answers at 127.0.0.1:${port}`)
    await serving(world.records.length, port)
    const whole = await pulled(session)
    expect([whole?.info.fault, whole?.info.divergences, whole?.info.lastPosition, whole?.info.decidedPosition]).toEqual(['', 0, world.records.length, world.records.length])
    expect([...(whole?.records.atUs ?? [])]).toEqual(world.records.map(({ atUs }) => atUs))
    expect(whole?.requests.ids).toEqual(Array.from({ length: 20 }, (_, i) => `r${i}`))
  })
})
