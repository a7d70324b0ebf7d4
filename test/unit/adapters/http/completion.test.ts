import { describe, expect, it } from 'vitest'
import { Completion } from '../../../../src/adapters/http/completion.ts'

describe('a completion', () => {
  it('takes the first value, once', () => {
    const done: string[] = []
    const completion = new Completion<string>((value) => done.push(value))

    expect([completion.settle('first'), completion.settle('second')]).toEqual([true, false])
    expect([done, completion.value]).toEqual([['first'], 'first'])
  })

  it('is not settled a second time from within', () => {
    const done: string[] = []
    const completion: Completion<string> = new Completion((value) => {
      done.push(value)
      completion.settle('again')
    })
    completion.settle('first')

    expect(done).toEqual(['first'])
  })

  it('stays settled when what it performs throws', () => {
    let count = 0
    const completion = new Completion<number>(() => {
      count++
      throw new Error('closing failed')
    })

    expect(() => completion.settle(1)).toThrow('closing failed')
    expect(completion.settle(2)).toBe(false)
    expect(count).toBe(1)
  })
})
