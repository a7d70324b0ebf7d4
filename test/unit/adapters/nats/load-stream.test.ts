import { describe, expect, it } from 'vitest'
import { LoadBacklog } from '../../../../src/adapters/nats/load-backlog.ts'
import { UnheardBlocks } from '../../../../src/adapters/nats/unheard-blocks.ts'
import type { LoadAssigned, PeerLoadReported } from '../../../../src/wire/index.ts'

const report = (replica: string, sequence: number, opens = false, runId = 'run1'): PeerLoadReported => ({ replica, runId, sequence, opens, assigned: [], released: [] })

const read = (taken: Readonly<Record<string, number>>, ...reports: readonly PeerLoadReported[]): readonly string[] => {
  const backlog = new LoadBacklog((replica, runId) => taken[`${replica} ${runId}`])
  for (const each of reports) backlog.add(each)
  return backlog.reports().map(({ replica, runId, sequence }) => `${replica} ${runId} ${sequence}`)
}

describe('what is read of the load stream', () => {
  it('given nothing was taken, then of each replica its newest open set and what follows, in order', () => {
    expect(read({}, report('x', 7), report('x', 8, true), report('y', 1, true), report('x', 9), report('x', 10, true), report('y', 2), report('x', 11), report('z', 5)))
      .toEqual(['x run1 10', 'x run1 11', 'y run1 1', 'y run1 2'])
  })

  it('given some was taken, then what follows it, open sets in between and after it included; a new run begins with its open set', () => {
    const stream = [report('x', 8, true), report('x', 9), report('x', 10, true), report('x', 11)]
    expect(read({ 'x run1': 8 }, ...stream)).toEqual(['x run1 9', 'x run1 10', 'x run1 11'])
    expect(read({ 'x run1': 11 }, ...stream)).toEqual(['x run1 10', 'x run1 11'])
    expect(read({ 'x run0': 8 }, ...stream)).toEqual(['x run1 10', 'x run1 11'])
  })

  it('given what follows is not kept any more, then the newest open set', () => {
    expect(read({ 'x run1': 3 }, report('x', 8, true), report('x', 9))).toEqual(['x run1 8', 'x run1 9'])
  })
})

const load = (request: number, endpoint = 'e', bytes = 8): LoadAssigned =>
  ({ request, attempt: 1, profile: 'p', endpoint, incarnation: '', promptTokens: 1, outputTokens: 0, blocks: bytes === 0 ? [] : [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(bytes) }] })

describe('block keys that peers may not have heard', () => {
  it('given some of their requests are over or are elsewhere, then the open set bears them, and nothing is held for it that is not', () => {
    const unheard = new UnheardBlocks()
    unheard.add([load(1), load(2), load(3, 'e', 0), load(4)])
    const { assigned, released } = unheard.addedTo([{ ...load(1, 'e', 0), promptTokens: 9 }, load(3, 'e', 0), load(4, 'f', 0)])
    expect(assigned).toEqual([load(2), load(4), { ...load(1), promptTokens: 9 }, load(3, 'e', 0), load(4, 'f', 0)])
    expect(released).toEqual([{ request: 2, attempt: 1, profile: 'p' }])
    unheard.clear()
    expect(unheard.addedTo([])).toEqual({ assigned: [], released: [] })
  })

  it('given more than is kept, then the newest are', () => {
    const unheard = new UnheardBlocks()
    for (let request = 1; request <= 20; request++) unheard.add([load(request, 'e', 1024 * 1024)])
    expect(unheard.addedTo([]).assigned.map(({ request }) => request)).toEqual([13, 14, 15, 16, 17, 18, 19, 20])
  })
})
