import { describe, expect, it } from 'vitest'
import { attributeRows } from '../../../src/visualizer/receipt/attribute-rows.ts'

describe('the attributes of a decision', () => {
  it('stand once for each endpoint, with all who read them', () => {
    const use = { name: 'waitingQueueSize', endpoint: 'a', value: '3', ageUs: 10 }
    const rows = attributeRows([{ ...use, profile: 'decode', plugins: ['queue'] }, { ...use, profile: 'prefill', plugins: ['queue', 'load'] }, { ...use, profile: 'decode', plugins: ['queue'], endpoint: 'b' }])
    expect(rows.map(({ endpoint, readers }) => [endpoint, readers])).toEqual([['a', ['queue (decode)', 'queue (prefill)', 'load (prefill)']], ['b', ['queue (decode)']]])
  })
})
