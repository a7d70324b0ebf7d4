import fc from 'fast-check'
import { VirtualTimeScheduler } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { OwnLoad, Peers } from '../../../../src/actors/replicas/index.ts'
import type { HeldLoad, LoadChange } from '../../../../src/actors/replicas/index.ts'
import { PeerLedger } from '../../../../src/plugins/producer/inflight-load-producer/peer-ledger.ts'
import type { Turn } from '../../../../src/engine/engine.ts'
import type { Input, LoadAssigned, PeerLoadReported } from '../../../../src/wire/index.ts'

const report = (sequence: number, more: Partial<PeerLoadReported> = {}): PeerLoadReported => ({ replica: 'b', runId: 'run1', sequence, opens: false, assigned: [], released: [], ...more })

const given = (known: readonly string[] = []) => {
  const clock = new VirtualTimeScheduler()
  const told: string[] = []
  let resyncs = 0
  const peers = new Peers({
    replica: 'a', clock, known,
    submit: ({ input }: Input) => {
      if (input?.kind === 'peerLoadReported') told.push(`${input.value.replica} ${input.value.sequence}${input.value.opens ? ' open' : ''}`)
      if (input?.kind === 'replicaLeaseEnded') told.push(`${input.value.replica} ended`)
    },
    resync: () => (resyncs += 1),
  })
  const passes = (ms: number): void => {
    clock.maxFrames = clock.frame + ms
    clock.flush()
    clock.frame = clock.maxFrames
  }
  return { peers, told, passes, resyncs: () => resyncs }
}

describe('the load of peers', () => {
  it('given reports before an open set, twice and out of order, then only what follows an open set counts, once', () => {
    const { peers, told, resyncs } = given()
    peers.reported(report(3))
    peers.reported(report(4, { opens: true }))
    peers.reported(report(5))
    peers.reported(report(5))
    peers.reported(report(4, { opens: true }))
    peers.reported(report(6))
    expect(told).toEqual(['b 4 open', 'b 5', 'b 6'])
    expect(resyncs()).toBe(0)
    expect(peers.counts).toEqual({ repeated: 2, unopened: 1, gaps: 0 })
    peers.close()
  })

  it('given a report is missing, then nothing is taken until the next open set', () => {
    const { peers, told, resyncs } = given()
    peers.reported(report(1, { opens: true }))
    peers.reported(report(3))
    peers.reported(report(4))
    expect(resyncs()).toBe(1)
    peers.reported(report(5, { opens: true }))
    peers.reported(report(6))
    expect(told).toEqual(['b 1 open', 'b 5 open', 'b 6'])
    peers.close()
  })

  it('given a new run, then its open set replaces, though its sequence begins anew', () => {
    const { peers, told } = given()
    peers.reported(report(90, { opens: true }))
    peers.reported(report(1, { opens: true, runId: 'run2' }))
    peers.reported(report(91))
    peers.reported(report(2, { runId: 'run2' }))
    expect(told).toEqual(['b 90 open', 'b 1 open', 'b 2'])
    peers.close()
  })

  it('given heartbeats stop, when the lease ends, then its load is released once; when they come back, its open set is asked for', () => {
    const { peers, told, passes, resyncs } = given()
    peers.announced({ replica: 'b', runId: 'run1', heartbeat: 1 })
    peers.reported(report(1, { opens: true }))
    passes(9000)
    peers.announced({ replica: 'b', runId: 'run1', heartbeat: 2 })
    peers.announced({ replica: 'b', runId: 'run1', heartbeat: 2 })
    passes(9000)
    expect(told).toEqual(['b 1 open'])
    passes(5000)
    expect(told).toEqual(['b 1 open', 'b ended'])
    peers.announced({ replica: 'b', runId: 'run1', heartbeat: 3 })
    expect(resyncs()).toBe(1)
    peers.reported(report(1, { opens: true }))
    expect(told.at(-1)).toBe('b 1 open')
    peers.close()
  })

  it('given a peer from the journal that lives no more, then its lease ends; its own load is never taken', () => {
    const { peers, told, passes } = given(['gone'])
    peers.reported(report(1, { opens: true, replica: 'a' }))
    passes(11_000)
    expect(told).toEqual(['gone ended'])
    peers.close()
  })
})

/** A turn that a report caused, or one in which a timer ended the request: its record does not name it. */
const turnOf = (position: number, request: number, attempt: number): Turn =>
  attempt === 1
    ? { record: { position, atUs: 0, input: { input: { kind: 'requestSent', value: { request, attempt } } }, decisions: [] }, effects: [] }
    : {
        record: { position, atUs: 0, input: { input: { kind: 'timerFired', value: { deadlineUs: 0 } } }, decisions: [] },
        effects: [{ kind: 'closed', request, outcome: 'expired', cause: 'error', usage: undefined, receivedAt: 0, reports: [] }],
      }

describe('telling own load', () => {
  it('given any history of requests, then a peer that takes the changes holds just what is held', () => {
    const step = fc.record({ request: fc.integer({ min: 1, max: 6 }), attempt: fc.integer({ min: 1, max: 2 }), endpoints: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }), tokens: fc.integer({ min: 0, max: 9 }) })
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 60 }), (steps, openAt) => {
      const held = new Map<number, readonly HeldLoad[]>()
      const own = new OwnLoad((request) => held.get(request) ?? [])
      const ledger = new PeerLedger()
      steps.forEach(({ request, attempt, endpoints, tokens }, index) => {
        held.set(request, endpoints.map((endpoint, at) => ({ attempt, profile: `p${at}`, endpoint, incarnation: '', promptTokens: tokens, outputTokens: 1, blocks: [] })))
        const change: LoadChange = { assigned: [], released: [] }
        own.taken(turnOf(100 + index, request, attempt), change)
        ledger.take({ replica: 'a', opens: false, ...change })
        if (index === openAt) ledger.take({ replica: 'a', opens: true, assigned: own.open(), released: [] })
      })
      const expected = [...held].flatMap(([request, loads]) => loads.map((load) => [request, load.attempt, load.profile, load.endpoint, load.promptTokens]))
      const found = ledger.remember().flatMap(([, loads]) => loads.map(({ request, attempt, profile, endpoint, promptTokens }) => [request, attempt, profile, endpoint, promptTokens]))
      expect(new Set(found.map(String))).toEqual(new Set(expected.map(String)))
      expect(new Set(own.open().map((load: LoadAssigned) => String([load.request, load.attempt, load.profile, load.endpoint, load.promptTokens])))).toEqual(new Set(expected.map(String)))
    }))
  })
})
