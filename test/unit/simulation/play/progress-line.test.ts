import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProgressLine } from '../../../../src/simulation/play/progress-line.ts'

const NOW = { sent: 10, completed: 7, failed: 1, inFlight: 2 }

function given(isTTY: boolean): { line: ProgressLine; written: string[] } {
  const written: string[] = []
  return { line: new ProgressLine({ isTTY, write: (text: string) => written.push(text) }), written }
}

describe('progress line', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
  afterEach(() => void vi.useRealTimers())

  it('renews itself on a terminal and is left at the end', () => {
    const { line, written } = given(true)
    line.update(NOW)
    vi.advanceTimersByTime(250)
    line.update(NOW)
    line.end()
    line.end()
    expect(written).toEqual(['\r\u001b[2K0 s: 10 sent, 7 completed, 1 failed, 2 in flight', '\n'])
  })

  it('is a plain line every few seconds elsewhere', () => {
    const { line, written } = given(false)
    for (let second = 0; second < 12; second++) {
      vi.advanceTimersByTime(1000)
      line.update(NOW)
    }
    line.end()
    expect(written).toEqual([
      '5 s: 10 sent, 7 completed, 1 failed, 2 in flight\n', '10 s: 10 sent, 7 completed, 1 failed, 2 in flight\n',
    ])
  })
})
