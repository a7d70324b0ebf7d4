import { describe, expect, it } from 'vitest'
import { takePaced } from '../../../../src/adapters/kv-events/paced.ts'

/** A socket with so many messages, which then is closed. */
const socketOf = async function* (messages: number): AsyncGenerator<readonly Buffer[]> {
  for (let n = 0; n < messages; n++) yield await Promise.resolve([Buffer.from(String(n))])
}

describe('takePaced', () => {
  it('given no room, when messages wait, then none is taken until there is', async () => {
    const taken: string[] = []
    const waits: (() => void)[] = []
    const done = takePaced(socketOf(4), new AbortController().signal, ([frame]) => taken.push(String(frame)), () => (taken.length === 2 ? new Promise((resolve) => waits.push(resolve)) : undefined))
    await new Promise(setImmediate)
    expect(taken).toEqual(['0', '1'])
    waits.pop()?.()
    await done
    expect(taken).toEqual(['0', '1', '2', '3'])
  })

  it('given no room ever, when it is closed, then it ends and takes nothing more', async () => {
    const taken: string[] = []
    const closing = new AbortController()
    const done = takePaced(socketOf(4), closing.signal, ([frame]) => taken.push(String(frame)), () => new Promise(() => undefined))
    await new Promise(setImmediate)
    closing.abort()
    await done
    expect(taken).toEqual(['0'])
  })

  it('given messages without end, then others have their turn', async () => {
    let turns = 0
    let taken = 0
    const closing = new AbortController()
    const turn = (): void => {
      turns += 1
      if (turns === 3) closing.abort()
      else setImmediate(turn)
    }
    setImmediate(turn)
    const endless = async function* (): AsyncGenerator<readonly Buffer[]> {
      while (!closing.signal.aborted) yield await Promise.resolve([])
    }
    await takePaced(endless(), closing.signal, () => (taken += 1))
    expect(turns).toBe(3)
    expect(taken).toBeGreaterThan(3)
  })
})
