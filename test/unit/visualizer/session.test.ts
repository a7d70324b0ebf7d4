import { describe, expect, it } from 'vitest'
import { emptyJournalBase, openBase } from '../../../src/journal/state-message.ts'
import { sliceFile } from '../../../src/replay/exports/slice.ts'
import type { Source } from '../../../src/visualizer/worker/messages.ts'
import { Session } from '../../../src/visualizer/worker/session.ts'
import type { Record as JournalRecord } from '../../../src/wire/journal.ts'
import { singleProfile } from '../../story/configuration.ts'
import { ended, joined, received, sent, started, telemetry } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'

const world = new World(singleProfile()).take(joined('a'), joined('b'))
const { key } = world.request(received('r'))
world.take(sent(key), started(key), ended(key))

const file = (records: readonly JournalRecord[]): Source => {
  const base = openBase(emptyJournalBase().bytes)
  if (base === undefined) throw new Error('the base cannot be read')
  const bytes = sliceFile(base, records)
  return { kind: 'file', name: 'test.sbj', bytes: bytes.slice().buffer }
}

const opened = async (records: readonly JournalRecord[]): Promise<{ session: Session; story: Awaited<ReturnType<Session['open']>> }> => {
  const session = new Session(() => undefined)
  return { session, story: await session.open(file(records)) }
}

const decidedWhole = (session: Session): ReturnType<Session['advance']> => {
  for (;;) {
    const advance = session.advance()
    if (!advance.more) return advance
  }
}

/** The same journal, written by an engine with a scorer of the user's own. */
const foreign = world.records.map((record): JournalRecord => {
  const content = record.input?.input
  if (content?.kind !== 'engineStarted') return record
  const text = (value: string): string => value.replaceAll('queue-scorer', 'my-scorer')
  const plugins = content.value.plugins.concat({ name: 'mine', type: 'my-scorer', contentHash: 'abc' })
  return { ...record, input: { input: { kind: 'engineStarted', value: { ...content.value, configuration: text(content.value.configuration), plugins } } } }
})

describe('an open journal', () => {
  it('is told from its records at once, and whole once it is decided again', async () => {
    const { session, story } = await opened(world.records)
    expect([story.info.decidedPosition, story.info.lastPosition, [...story.requests.key], story.bars.from.length]).toEqual([0, world.records.length, [key], 1])
    const before = session.look(key)
    expect([before.known, before.decided.map(({ recordedOnly }) => recordedOnly), before.endpoints]).toEqual([false, [true], []])
    expect(before.decided[0]?.sentence).toMatch(/^decode on default\/[ab]: total /)
    expect(session.requestStory(key).decided.map(({ recordedOnly }) => recordedOnly)).toEqual([true])
    const { story: whole, position } = decidedWhole(session)
    expect([position, whole?.info.decidedPosition, whole?.info.undecidable]).toEqual([world.records.length, world.records.length, ''])
    const after = session.look(key)
    expect([after.known, after.decided.map(({ recordedOnly }) => recordedOnly), after.endpoints.length]).toEqual([true, [false], 2])
    expect(session.requestStory(key).decided[0]?.receipt.profiles[0]?.candidates).toEqual(['default/a', 'default/b'])
  })

  it('steps through the transitions of a request and of an endpoint, either way', async () => {
    const lost = new World(singleProfile()).take(joined('a'))
    const late = lost.request(received('late')).key
    lost.take(sent(late)).pass(700_000)
    const { session } = await opened(lost.records)
    const end = session.step('request', late, late + 1, 1) ?? 0
    // A timer's: no record is about the request.
    expect([session.step('request', late, late, 1), lost.records[end - 1]?.input?.input?.kind, session.step('request', late, end, 1)]).toEqual([late + 1, 'timerFired', undefined])
    expect([session.step('request', late, end, -1), session.step('request', late, late, -1)]).toEqual([late + 1, undefined])
    expect(session.step('endpoint', 'default/a', 0, 1)).toBe(2)
  })

  it('that now replays otherwise tells every field in which a record differs', async () => {
    const changed = world.records.map((record) => ({ ...record, decisions: record.decisions.map((decision) => ({ ...decision, attempt: 7, decisionType: 'changed' })) }))
    const { session } = await opened(changed)
    const { story } = decidedWhole(session)
    expect([story?.info.divergence?.field, story?.info.divergences]).toEqual(['decisions.0.attempt', 1])
    expect(session.differences(key).map(({ field, journalSays, codeSays }) => [field, journalSays, codeSays])).toEqual([['decisions.0.attempt', '7', '1'], ['decisions.0.decisionType', '"changed"', '""']])
    expect(session.differences(key + 1)).toEqual([])
  })

  it('forks, and gives the receipts of a change when they are asked for', async () => {
    const uneven = new World(singleProfile()).take(joined('a'), joined('b'))
    uneven.step(telemetry([{ slot: 0, waiting: 9, kv: 0.1 }, { slot: 1, waiting: 0, kv: 0.9 }]), 50)
    const { key: asked } = uneven.request(received('r', { shape: { tokenized: true, prompts: [], problem: '' } }))
    const { session } = await opened(uneven.records)
    const other = singleProfile()
    const { summary, changes } = session.fork(JSON.stringify({ ...other, profiles: other.profiles.map((profile) => ({ ...profile, scorers: [{ plugin: 'kv-cache-utilization-scorer', weight: 1 }] })) }))
    expect([summary.changed, changes]).toMatchObject([1, [{ position: asked, requestId: 'r', recorded: 'decode on default/b', forked: 'decode on default/a', hasReceipts: true }]])
    const { recorded, forked } = session.forkReceipts(0)
    expect([recorded?.profiles[0]?.scorers.length, forked?.profiles[0]?.scorers.length]).toEqual([3, 1])
    expect(session.forkReceipts(1)).toEqual({ recorded: undefined, forked: undefined })
  })

  it('of plugins that are not here says which, and shows what was recorded', async () => {
    const { session, story } = await opened(foreign)
    expect(story.requests.ids).toEqual(['r'])
    const { story: whole } = decidedWhole(session)
    expect(whole?.info.undecidable).toMatch(/plugins that the page does not have: my-scorer\..*--plugins/)
    expect([...(whole?.requests.endedAt ?? [])]).toEqual([world.records.at(-1)?.atUs])
    expect(session.look(key).decided.map(({ recordedOnly }) => recordedOnly)).toEqual([true])
    expect(session.actor('request', key, key).known).toBe(false)
    expect(() => session.flips(key, key)).toThrow('my-scorer')
    expect(() => session.fork('{}')).toThrow('my-scorer')
  })
})
