import { describe, expect, it } from 'vitest'
import { drift, generate } from '../../../schemas/generate/main.ts'

describe('src/wire', () => {
  it('is exactly what schemas/ gives', () => {
    expect(drift(generate())).toEqual([])
  })

  it('given a file that differs or is missing, when checked, then it is named', () => {
    const wanted = new Map(generate())
    wanted.set('journal.ts', `${wanted.get('journal.ts') ?? ''}\n`)
    wanted.set('new.ts', '')
    wanted.delete('state.ts')
    expect(drift(wanted)).toEqual(['journal.ts', 'new.ts', 'state.ts'])
  })
})
