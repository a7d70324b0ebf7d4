import { VirtualTimeScheduler } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { Membership } from '../../../../src/actors/membership/index.ts'
import { emptyEndpointAnnouncement, emptyEndpointInfo } from '../../../../src/wire/index.ts'
import type { EndpointAnnouncement, Input } from '../../../../src/wire/index.ts'

const announcement = (id: string, heartbeat: number, extra: Partial<EndpointAnnouncement> & { incarnation?: string; port?: number } = {}): EndpointAnnouncement => {
  const { incarnation = 'i1', port = 8000, ...rest } = extra
  return { ...emptyEndpointAnnouncement(), presence: 'ready', heartbeat, endpoint: { ...emptyEndpointInfo(), id, address: '127.0.0.1', port, incarnation }, ...rest }
}

const given = (known: readonly { id: string; incarnation: string }[] = []) => {
  const clock = new VirtualTimeScheduler()
  const told: string[] = []
  const submit = ({ input }: Input): void => {
    if (input?.kind === 'endpointJoined' || input?.kind === 'endpointUpdated') told.push(`${input.kind} ${input.value.endpoint?.id} ${input.value.endpoint?.incarnation}`)
    else if (input?.kind === 'endpointLeft') told.push(`left ${input.value.endpoint} ${input.value.incarnation} ${input.value.reason}`)
    else if (input?.kind === 'endpointDraining') told.push(`draining ${input.value.endpoint}`)
  }
  const membership = new Membership({ submit, timeoutMs: 10_000, clock, known })
  const passes = (ms: number): void => {
    clock.maxFrames = clock.frame + ms
    clock.flush()
    clock.frame = clock.maxFrames
  }
  return { membership, told, passes }
}

describe('membership', () => {
  it('given an announcement, then the endpoint joins at once and its heartbeats tell nothing more', () => {
    const { membership, told } = given()
    for (let heartbeat = 1; heartbeat < 5; heartbeat++) membership.announced(announcement('a', heartbeat))
    expect(told).toEqual(['endpointJoined a i1'])
    membership.close()
  })

  it('given the heartbeats stop, when the timeout passes, then the endpoint is gone, once', () => {
    const { membership, told, passes } = given()
    membership.announced(announcement('a', 1))
    passes(9000)
    membership.announced(announcement('a', 2))
    passes(9400)
    expect(told).toEqual(['endpointJoined a i1'])
    passes(3000)
    expect(told).toEqual(['endpointJoined a i1', 'left a i1 no heartbeat'])
    membership.close()
  })

  it('given the same old value is read again after it went, then it does not come back; a newer heartbeat brings it back', () => {
    const { membership, told, passes } = given()
    membership.announced(announcement('a', 5))
    passes(11_000)
    membership.announced(announcement('a', 5))
    membership.announced(announcement('a', 4))
    expect(told).toHaveLength(2)
    membership.announced(announcement('a', 6))
    expect(told.at(-1)).toBe('endpointJoined a i1')
    membership.close()
  })

  it('given the same value over and over, then that is no heartbeat', () => {
    const { membership, told, passes } = given()
    for (let second = 0; second < 12; second++) {
      membership.announced(announcement('a', 1))
      passes(1000)
    }
    expect(told).toEqual(['endpointJoined a i1', 'left a i1 no heartbeat'])
    membership.close()
  })

  it('given another life under the same name, then it joins in its place', () => {
    const { membership, told } = given()
    membership.announced(announcement('a', 9))
    membership.announced(announcement('a', 1, { incarnation: 'i2' }))
    expect(told).toEqual(['endpointJoined a i1', 'endpointJoined a i2'])
    membership.close()
  })

  it('given a changed address, draining, ready again and a withdrawal, then each is told once', () => {
    const { membership, told } = given()
    membership.announced(announcement('a', 1))
    membership.announced(announcement('a', 2, { port: 8001 }))
    membership.announced(announcement('a', 3, { port: 8001, presence: 'draining' }))
    membership.announced(announcement('a', 4, { port: 8001, presence: 'draining' }))
    membership.announced(announcement('a', 5, { port: 8001 }))
    membership.withdrawn('a')
    membership.withdrawn('a')
    expect(told).toEqual(['endpointJoined a i1', 'endpointUpdated a i1', 'draining a', 'endpointUpdated a i1', 'left a i1 announced'])
    membership.close()
  })

  it('given the broker is away for long, then nobody is judged, and each has the whole timeout after it', () => {
    const { membership, told, passes } = given()
    membership.announced(announcement('a', 1))
    membership.pause()
    passes(60_000)
    membership.resume()
    passes(9000)
    expect(told).toEqual(['endpointJoined a i1'])
    passes(2000)
    expect(told.at(-1)).toBe('left a i1 no heartbeat')
    membership.close()
  })

  it('given endpoints from the journal, when they are not announced, then they go after the timeout', () => {
    const { membership, told, passes } = given([{ id: 'a', incarnation: 'i1' }, { id: 'b', incarnation: 'i1' }])
    membership.announced(announcement('a', 7))
    passes(9000)
    membership.announced(announcement('a', 8))
    passes(2000)
    expect(told).toEqual(['endpointJoined a i1', 'left b i1 no heartbeat'])
    membership.close()
  })

  it('given an announcement without an endpoint, then nothing comes of it', () => {
    const { membership, told } = given()
    membership.announced(emptyEndpointAnnouncement())
    expect(told).toEqual([])
    membership.close()
  })
})
