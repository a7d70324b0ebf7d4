import { describe, expect, it } from 'vitest'
import { readEndpoints } from '../../../../src/adapters/file-discovery/index.ts'
import { SignalboxError } from '../../../../src/core/errors.ts'
import { fileDiscovery } from '../../../../src/plugins/discovery/file-discovery/index.ts'
import type { FileDiscovery } from '../../../../src/plugins/discovery/file-discovery/index.ts'

const reader = fileDiscovery.create({ name: 'file-discovery', parameters: { path: 'e.yaml' }, plugin: () => undefined, warn: () => undefined }) as FileDiscovery

const read = (text: string) => readEndpoints(text, 'e.yaml', reader)

const errorOf = (text: string): string => {
  try {
    read(text)
  } catch (error) {
    if (error instanceof SignalboxError) return `${error.code} ${error.place?.line ?? '-'}:${error.place?.column ?? '-'} ${error.message}`
    throw error
  }
  throw new Error('it was taken')
}

describe('readEndpoints', () => {
  it('reads YAML and JSON', () => {
    const yaml = 'endpoints:\n- name: a\n  address: 10.0.0.1\n  port: "8000"\n  labels: {llm-d.ai/role: decode}\n'
    const json = '{"endpoints": [{"name": "a", "address": "10.0.0.1", "port": "8000", "labels": {"llm-d.ai/role": "decode"}}]}'
    expect(read(yaml)).toEqual(read(json))
    expect(read(yaml)).toMatchObject([{ id: 'default/a', address: '10.0.0.1', port: 8000, labels: new Map([['llm-d.ai/role', 'decode']]) }])
  })

  it('takes an empty list for no endpoints, and an empty file for a mistake', () => {
    expect(read('endpoints: []\n')).toEqual([])
    expect(errorOf('')).toBe('config-invalid -:- the file is empty; write `endpoints: []` where there are none')
    expect(errorOf('# nothing yet\n')).toContain('the file is empty')
  })

  it.each([
    ['endpoints:\n- name: a\n  address: 10.0.0.1\n  port: 8000\n', 'config-invalid 4:9 port must be a string; write "8000"'],
    ['endpoints:\n- {name: a, address: localhost, port: "8000"}\n', 'config-invalid 2:22 address "localhost" is not an IPv4 address'],
    ['endpoints:\n- {name: a, port: "8000"}\n', 'config-invalid 2:3 address "" is not an IPv4 address'],
    ['endpoints:\n- {address: 10.0.0.1, port: "0"}\n- {address: 10.0.0.1, port: "x"}\n', 'config-invalid 2:29 port "0" is not a number from 1 to 65535 (and 1 more)'],
    ['endpoints: 5\n', 'config-invalid 1:12 endpoints must be a list'],
    ['- a\n', 'config-invalid 1:1 the file must be an object with a list `endpoints`'],
    ['endpoints:\n- {name: a\n', 'config-syntax 3:1 Flow map in block collection must be sufficiently indented and end with a }'],
    ['endpoints: *all\n', 'config-syntax -:- Unresolved alias (the anchor must be set before the alias): all'],
  ])('says where %j is wrong', (text, message) => {
    expect(errorOf(text)).toBe(message)
  })
})
