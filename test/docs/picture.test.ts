import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { picture } from './picture.ts'

describe('the picture of the README', () => {
  it('shows what explain says now; if not: node test/docs/write-picture.ts', () => {
    expect(readFileSync(new URL('../../deploy/pictures/explain.svg', import.meta.url), 'utf8')).toBe(picture())
  })
})
