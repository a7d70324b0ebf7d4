import { describe, expect, it } from 'vitest'
import { missingRoles } from '../../../src/core/roles.ts'
import { KNOWN_TYPES, pluginTypes } from '../../../src/plugins/index.ts'
import { context } from './given.ts'

/** What a type cannot be made without. */
const NEEDED: Readonly<Record<string, unknown>> = {
  'by-label': { label: 'x', validValues: ['y'] },
  'file-discovery': { path: 'endpoints.yaml' },
  'request-attribute-reporter': { attributes: [{ key: { name: 'cost' }, expression: 'usage.total_tokens' }] },
  'session-id-producer': { headerName: 'x-session-id' },
}

const decider = { typedName: { type: 'fixed', name: 'prefix-based-pd-decider' }, runs: () => true }

describe('the built-in plugin types', () => {
  it('are each there once, and known from the list', () => {
    const names = pluginTypes.map(({ type }) => type)
    expect(new Set(names).size).toBe(names.length)
    // AIBrix's router has no place in llm-d's list.
    expect(names.filter((name) => !KNOWN_TYPES.includes(name) && !name.startsWith('aibrix-'))).toEqual([])
  })

  it.each(pluginTypes)('$type bears the roles that it claims', (type) => {
    const plugin = type.create(context(NEEDED[type.type], [decider]))
    expect(missingRoles(type, plugin)).toEqual([])
    expect(plugin.typedName.name).toBe('it')
    expect(['alpha', 'beta']).toContain(type.stability)
  })
})

describe('the known types', () => {
  it('are the 97 of the list', () => {
    expect(KNOWN_TYPES).toHaveLength(97)
    expect(new Set(KNOWN_TYPES).size).toBe(97)
  })
})
