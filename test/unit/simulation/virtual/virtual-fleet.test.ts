import { describe, expect, it } from 'vitest'
import { VirtualFleet } from '../../../../src/simulation/index.ts'
import type { VirtualRoute } from '../../../../src/simulation/index.ts'

const PROMPT = 32_000
const request = { keys: Float64Array.from({ length: PROMPT / 16 }, (_, i) => i + 1), promptTokens: PROMPT, outputTokens: 3 }
const ELSEWHERE: VirtualRoute = { prefill: 'default/prefill-0', decode: 'default/decode-0' }

/** Lets everything happen, and gives it with its times. */
const played = (...served: readonly (readonly [id: number, route: VirtualRoute, atMs: number])[]): readonly string[] => {
  const fleet = new VirtualFleet({ prefill: 1, decode: 1, rolesets: 1, engine: 'vllm' })
  const told: string[] = []
  const tell = (id: number, what: string, atMs: number): void => void told.push(`${id} ${what} ${Math.round(atMs * 100) / 100}`)
  for (const [id, route, startMs] of served) {
    for (let at = fleet.nextAt(); at <= startMs; at = fleet.nextAt()) fleet.advance(at)
    fleet.advance(startMs)
    fleet.serve(id, request, route, {
      admitted: (cached, atMs) => tell(id, `admitted with ${cached} cached`, atMs),
      prefilled: (atMs) => tell(id, 'prefilled', atMs),
      firstToken: (atMs) => tell(id, 'first token', atMs),
      progressed: (tokens, atMs) => tell(id, `${tokens} tokens`, atMs),
      ended: (atMs) => tell(id, 'ended', atMs),
    }, startMs)
  }
  for (let at = fleet.nextAt(); at < Infinity; at = fleet.nextAt()) fleet.advance(at)
  return told
}

describe('a fleet in virtual time', () => {
  it('prefills on one endpoint, hands over, and decodes on the other, at the times of the timing model', () => {
    // 4 ms and 32,000 tokens at 32,000/s; 5 ms and as many at 400,000/s; steps of 20 ms.
    expect(played([1, ELSEWHERE, 0])).toEqual(['1 admitted with 0 cached 0', '1 prefilled 1004', '1 first token 1109', '1 ended 1149'])
  })

  it('prefills where it decodes when it is sent nowhere else: the first token comes out of the prefill', () => {
    expect(played([1, { prefill: undefined, decode: 'default/decode-0' }, 0])).toEqual(['1 admitted with 0 cached 0', '1 first token 1004', '1 ended 1044'])
  })

  it('finds a prompt again on both sides', () => {
    // All but the last block are cached; the decode endpoint has them too.
    expect(played([1, ELSEWHERE, 0], [2, ELSEWHERE, 2000]).slice(4)).toEqual(['2 admitted with 31984 cached 2000', '2 prefilled 2004.5', '2 first token 2029.54', '2 ended 2069.54'])
  })

  it('is announced as the endpoints on sockets are', () => {
    const { endpoints } = new VirtualFleet({ prefill: 1, decode: 3, rolesets: 2, engine: 'sglang' })
    expect(endpoints.map(({ id, labels }) => [id, labels['llm-d.ai/role'], labels['role-name'], labels['roleset-name'], labels['model.aibrix.ai/engine']])).toEqual([
      ['default/decode-0', 'decode', 'decode', 'roleset-0', 'sglang'],
      ['default/decode-1', 'decode', 'decode', 'roleset-1', 'sglang'],
      ['default/decode-2', 'decode', 'decode', 'roleset-0', 'sglang'],
      ['default/prefill-0', 'prefill', 'prefill', 'roleset-0', 'sglang'],
    ])
  })

  it('ends a request early, at once', () => {
    const fleet = new VirtualFleet({ prefill: 1, decode: 1, rolesets: 0, engine: 'vllm' })
    const fail = (): never => { throw new Error('told of a request that was ended') }
    fleet.serve(1, request, ELSEWHERE, { admitted: () => undefined, prefilled: fail, firstToken: fail, progressed: fail, ended: fail }, 0)
    fleet.abort(1, 500)
    expect(fleet.nextAt()).toBe(Infinity)
    expect(fleet.endpoints.map(({ running, waiting, kvUsage }) => [running, waiting, kvUsage])).toEqual([[0, 0, 0], [0, 0, 0]])
  })
})
