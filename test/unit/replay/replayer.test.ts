import { describe, expect, it } from 'vitest'
import { compareDecisions, explain, finish, Follower, recover, Replayer, replayJournal, sentence } from '../../../src/replay/index.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import { encodeState, engineAt } from '../../../src/replay/engine-at.ts'
import { emptyReceipt } from '../../../src/wire/decision.ts'
import type { Record as JournalRecord } from '../../../src/wire/journal.ts'
import { disaggregated } from '../../story/configuration.ts'
import { ended, failed, joined, prompt, received, sent, started } from '../../story/inputs.ts'
import { journalOf } from '../../story/journal.ts'
import { target, World } from '../../story/world.ts'

const options = engineOptions([], { receiptBytes: 1 << 16 })
const START = { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n }

/** 30 requests, the third of which fails once. */
const world = (): World => {
  const made = new World(disaggregated(512)).take(joined('a', 'decode'), joined('b', 'decode'), joined('p', 'prefill'))
  for (let i = 0; i < 30; i += 1) {
    const { key, decision } = made.request(received(`r-${i}`, { shape: { tokenized: true, prompts: [prompt(64 * i)], problem: '' } }))
    if (i === 2) made.take(failed(key, 1, target(decision)))
    const attempt = i === 2 ? 2 : 1
    made.take(sent(key, attempt), started(key, attempt), ended(key, attempt))
  }
  return made
}

/** The journal with the first pick of the n-th decision changed. */
const changed = (records: readonly JournalRecord[], n: number): { readonly records: JournalRecord[]; readonly position: number } => {
  const copy = structuredClone(records) as JournalRecord[]
  const record = copy.filter(({ decisions }) => decisions.length > 0)[n] as JournalRecord
  const pick = record.decisions[0]?.profiles[0]?.picks[0]
  if (pick !== undefined) pick.endpoint = 'default/z'
  return { records: copy, position: record.position }
}

describe('a replay', () => {
  it('comes to the same, over every record, and compares the states of bases', () => {
    const { records } = world()
    const replayed = finish(replayJournal(options, journalOf(records, { baseEvery: 40 })))
    expect(replayed).toMatchObject({ from: 0, to: records.length, records: records.length, decisions: 31, divergence: undefined })
    expect(replayed.basesCompared).toBeGreaterThan(1)
  })

  it('names the first divergence: the position, the field, what the journal says and what the code says', () => {
    const { records, position } = changed(world().records, 4)
    const { divergence, to } = finish(replayJournal(options, journalOf(records)))
    expect(divergence).toEqual({ position, field: 'decisions.0.profiles.0.picks.0.endpoint', journalSays: '"default/z"', codeSays: expect.stringMatching(/default\/[ab]/) as string })
    expect(to).toBe(position)
  })

  it('begins and ends where it is told', () => {
    const { records } = world()
    const journal = journalOf(records, { baseEvery: 40 })
    const [, second] = journal.segments()
    const from = second?.basePosition ?? 0
    expect(finish(replayJournal(options, journal, { from: from + 3, until: from + 9 }))).toMatchObject({ from, to: from + 9, records: 9 })
  })

  it('notices a position and a time that are not the next ones', () => {
    const [first] = world().records as [JournalRecord]
    expect(new Replayer(options, START).apply({ ...first, position: 2 })).toMatchObject({ field: 'position', journalSays: '2', codeSays: '1' })
    const replayer = new Replayer(options, START)
    replayer.apply(first)
    expect(replayer.apply({ position: 2, atUs: 1, input: joined('a'), decisions: [] })).toMatchObject({ field: 'atUs', journalSays: '1' })
  })

  it('goes on after a divergence where it follows a live journal, and counts', () => {
    const follower = new Follower(options)
    expect(() => follower.state()).toThrow('has not begun')
    follower.begin(START)
    const { records } = changed(world().records, 2)
    const found = records.flatMap((record) => follower.apply(record) ?? [])
    expect([found.length, follower.divergences, follower.position]).toEqual([1, 1, records.length])
  })
})

describe('a recovery', () => {
  it('gives the state of every position, with snapshots and without', () => {
    const made = world()
    const live = engineAt(options, START)
    const [bare, rich] = [journalOf(made.records), journalOf(made.records, { snapshotEvery: 32, baseEvery: 64 })]
    for (const { input, atUs, position } of made.records) {
      live.step(input ?? { input: undefined }, atUs)
      if (position % 13 !== 0) continue
      for (const journal of [bare, rich]) expect(encodeState(finish(recover(options, journal, position)).engine).stateHash).toBe(encodeState(live).stateHash)
    }
  })

  it('refuses a state whose bytes are not the ones that were saved', () => {
    const at = encodeState(world().engine)
    expect(() => engineAt(options, { ...at, state: at.state.map((byte, i) => (i === 40 ? byte ^ 1 : byte)) })).toThrow(expect.objectContaining({ code: 'state-invalid' }))
    expect(() => engineAt(options, { ...at, stateHash: at.stateHash ^ 1n })).toThrow(expect.objectContaining({ code: 'state-invalid' }))
  })
})

describe('an explanation', () => {
  it('has every attempt with its receipt, by id and by position, and says what is not there', () => {
    const made = world()
    const journal = journalOf(made.records, { snapshotEvery: 32 })
    const [found] = explain(options, journal, 'r-2')
    expect(found?.receipts).toMatchObject([{ attempt: 1 }, { attempt: 2, excluded: [expect.stringContaining('default/')] }])
    expect(explain(options, journal, String(found?.request))).toEqual([found])
    for (const none of ['nobody', '1', '99999', '-1', '']) expect(() => explain(options, journal, none)).toThrow(expect.objectContaining({ code: 'request-not-found' }))
  })

  it('is one sentence that holds for every decision', () => {
    const made = world()
    const journal = journalOf(made.records)
    const sentences = made.records.flatMap(({ position, decisions }) => (decisions.length === 0 ? [] : explain(options, journal, String(decisions[0]?.request ?? position)).flatMap(({ receipts }) => receipts.map(sentence))))
    for (const text of sentences) expect(text).toMatch(/^decode on default\/[ab]: .*\.$/)
    expect(sentence(emptyReceipt())).toBe('No decision.')
  })

  it('says why a request was not served', () => {
    const made = new World(disaggregated(512))
    const { key } = made.request(received('r'))
    expect(made.engine.receipts(key).map(sentence)).toEqual([expect.stringMatching(/^Not served: .*no endpoint.* \(503, /)])
  })
})

describe('comparing decisions', () => {
  it('shows 64-bit digests and what is missing', () => {
    const { decisions } = world().records.find(({ decisions: each }) => each.length > 0) as JournalRecord
    const other = decisions.map((decision) => ({ ...decision, receiptDigest: 1n }))
    expect(compareDecisions(5, other, decisions)).toMatchObject({ position: 5, field: 'decisions.0.receiptDigest', journalSays: '0000000000000001' })
    expect(compareDecisions(5, [], decisions)).toMatchObject({ field: 'decisions.0', journalSays: 'nothing' })
    expect(compareDecisions(5, decisions, structuredClone(decisions))).toBeUndefined()
    expect(compareDecisions(5, [], [])).toBeUndefined()
  })
})
