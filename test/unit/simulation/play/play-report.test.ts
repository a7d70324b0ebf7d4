import { describe, expect, it } from 'vitest'
import { PlayTally } from '../../../../src/simulation/play/play-report.ts'
import type { Outcome } from '../../../../src/simulation/play/play-report.ts'
import { reportText } from '../../../../src/simulation/play/report-text.ts'
import { PrefixCeiling } from '../../../../src/simulation/trace/prefix-ceiling.ts'

function completed(change: Partial<Outcome> = {}): Outcome {
  return {
    error: undefined, firstTokenMs: 10, endMs: 100, interTokenMs: 5,
    usage: { promptTokens: 64, completionTokens: 4, cachedTokens: 16 },
    endpoints: { decode: ['d0'], prefill: [], encode: [] }, ...change,
  }
}

function given(...outcomes: Outcome[]): PlayTally {
  const tally = new PlayTally()
  tally.sent = outcomes.length
  for (const outcome of outcomes) tally.add(outcome)
  return tally
}

function ceilingOf(times: number): PrefixCeiling {
  const ceiling = new PrefixCeiling()
  for (let index = 0; index < times; index++) {
    ceiling.add({ index, atMs: 0, inputTokens: 64, outputTokens: 1, blockTokens: 16, blockIds: [1, 2], scope: '' })
  }
  return ceiling
}

describe('play report', () => {
  it('counts what completed and what failed, by kind, the frequent kinds first', () => {
    const failed = (kind: string, detail: string): Outcome => completed({ error: { kind, detail } })
    const report = given(completed(), failed('timeout', 'a'), failed('status 503', 'b'), failed('status 503', 'c')).report(ceilingOf(4), 2000, false)
    expect(report).toMatchObject({ sent: 4, completed: 1, failed: 3, interrupted: false })
    expect(report.errors).toEqual([{ kind: 'status 503', count: 2, example: 'b' }, { kind: 'timeout', count: 1, example: 'a' }])
  })

  it('takes latencies and tokens from completed requests alone', () => {
    const report = given(
      completed({ firstTokenMs: 30 }), completed({ interTokenMs: undefined }), completed({ firstTokenMs: 1, error: { kind: 'x', detail: '' } }),
    ).report(ceilingOf(3), 1, false)
    expect(report.firstTokenMs).toEqual({ p50: 10, p90: 30, p99: 30 })
    expect(report.interTokenMs.p50).toBe(5)
    expect([report.promptTokens, report.completionTokens]).toEqual([128, 8])
  })

  it('gives prefix hits as a share of what any cache could hit', () => {
    const { prefix } = given(completed(), completed()).report(ceilingOf(2), 1, false)
    expect(prefix).toEqual({ cachedTokens: 32, ceilingTokens: 32, hitShare: 0.25, ceilingShare: 0.25, ofCeiling: 1 })
  })

  it('says nothing of shares of nothing', () => {
    const { prefix } = given().report(new PrefixCeiling(), 0, true)
    expect(prefix).toMatchObject({ hitShare: null, ceilingShare: null, ofCeiling: null })
    expect(given(completed()).report(ceilingOf(1), 1, false).prefix).toMatchObject({ ceilingShare: 0, ofCeiling: null })
  })

  it('shares requests over endpoints by stage', () => {
    const { endpoints } = given(
      completed(), completed({ endpoints: { decode: ['d1'], prefill: ['p0'], encode: ['e0', 'e1'] } }), completed(), completed(),
    ).report(ceilingOf(4), 1, false)
    expect(endpoints.decode).toEqual([{ endpoint: 'd0', requests: 3, share: 0.75 }, { endpoint: 'd1', requests: 1, share: 0.25 }])
    expect(endpoints.prefill).toEqual([{ endpoint: 'p0', requests: 1, share: 1 }])
    expect(endpoints.encode).toHaveLength(2)
  })

  it('reads as a table', () => {
    const tally = given(completed(), completed({ error: { kind: 'timeout', detail: 'no sign of life' } }))
    tally.heldBack = 1
    tally.latestMs = 12
    const text = reportText(tally.report(ceilingOf(2), 4000, true))
    expect(text).toContain('2 sent, 1 completed, 1 failed (interrupted)')
    expect(text).toMatch(/first token +10\.0 +10\.0 +10\.0\n/)
    expect(text).toContain('12.5 % of prompt tokens, 50.0 % of the ceiling (25.0 %)')
    expect(text).toMatch(/decode +d0 {2}2 {2}100\.0 %/)
    expect(text).toContain('1 x timeout: no sign of life')
    expect(text).toContain('0.5 requests/s')
    expect(text.endsWith('\n')).toBe(true)
  })
})
