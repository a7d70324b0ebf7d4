import { describe, expect, it } from 'vitest'
import { engineOptions } from '../../../../src/replay/engine-options.ts'
import { feedAfter, feedStart, openStart } from '../../../../src/replay/feed/feed.ts'
import { OUTCOMES, STAGES } from '../../../../src/replay/timeline/timeline.ts'
import type { Timeline } from '../../../../src/replay/timeline/timeline.ts'
import { Travel } from '../../../../src/replay/travel/travel.ts'
import { mixed } from '../../../golden/stories.ts'
import { singleProfile } from '../../../story/configuration.ts'
import { engineStarted, failed, joined, received } from '../../../story/inputs.ts'
import { journalOf } from '../../../story/journal.ts'
import { target, World } from '../../../story/world.ts'

const taken = (world: World, position = 0): Travel => {
  const journal = journalOf(world.records, { batch: 16, snapshotEvery: 64 })
  const travel = new Travel(engineOptions(), openStart(feedStart(journal, position)))
  for (const part of feedAfter(journal, travel.last, Infinity)) travel.take(part)
  return travel
}

/** Rows and bars as text, those of some requests left out. */
const story = ({ bars, lanes, requests }: Timeline, without: ReadonlySet<number> = new Set()): string[] => {
  const places = (keys: Float64Array): number[] => [...keys.keys()].filter((place) => !without.has(keys[place] as number))
  const rows = places(requests.key.view()).map((row) => [
    requests.key.at(row), requests.ids[row], OUTCOMES[requests.outcome.at(row) as 0], requests.attempts.at(row), lanes[requests.lane.at(row)]?.id, requests.promptTokens.at(row), requests.outputTokens.at(row),
    ...[requests.receivedAt, requests.decidedAt, requests.sentAt, requests.firstByteAt, requests.endedAt].map((column) => column.at(row)),
  ].join(' '))
  const drawn = places(bars.request.view()).map((bar) => [
    bars.request.at(bar), STAGES[bars.stage.at(bar) as 0], lanes[bars.lane.at(bar)]?.id, bars.attempt.at(bar), bars.from.at(bar), bars.sent.at(bar), bars.firstByte.at(bar), bars.to.at(bar), OUTCOMES[bars.outcome.at(bar) as 0],
  ].join(' '))
  return [...rows, ...drawn.sort()]
}

/** Those that a timer ended. */
const expired = ({ requests }: Timeline): Set<number> => new Set(requests.key.view().filter((_, row) => requests.outcome.at(row) === OUTCOMES.indexOf('expired')))

describe('the sketch of a journal', () => {
  it.each([0, 200])('tells what its replay tells of requests, from position %d on, before anything is decided again', (position) => {
    const travel = taken(mixed(), position)
    const sketched = travel.told
    expect([travel.decided, sketched.records.atUs.length]).toEqual([travel.start.position, travel.last - travel.start.position])
    travel.decide(Infinity)
    const open = expired(travel.told)
    expect(open.size).toBeGreaterThan(0)
    expect(story(sketched, open)).toEqual(story(travel.told, open))
    const columns = ({ records }: Timeline): unknown => [records.first, records.atUs.view(), [...records.kind.view()].map((kind) => records.kinds.list[kind]), records.request.view()]
    expect(columns(sketched)).toEqual(columns(travel.told))
  })

  it('knows that a restart ends what was proxied, and what failed for good', () => {
    const world = new World(singleProfile()).take(joined('a'))
    world.request(received('proxied', { proxied: true }))
    const { key, decision } = world.request(received('unlucky'))
    world.take(failed(key, 1, target(decision)), engineStarted(singleProfile(), 7n))
    const travel = taken(world)
    const before = story(travel.told)
    travel.decide(Infinity)
    expect(before).toEqual(story(travel.told))
    expect(before.map((line) => line.split(' ')[2])).toContain('failed')
  })

  it('knows endpoints and their lives', () => {
    const travel = taken(mixed())
    const lives = ({ lanes }: Timeline): string[] => lanes.map(({ id, role, spells }) => [id, role, ...spells.filter(({ kind }) => kind === 'alive').map(({ from, to, incarnation }) => [from, to, incarnation].join(' '))].join(', ')).sort()
    const before = lives(travel.told)
    travel.decide(Infinity)
    expect(before).toEqual(lives(travel.told))
  })
})
