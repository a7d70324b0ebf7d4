import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../../src/config/load.ts'
import { MULTICLUSTER_KV_CACHE_USAGE, MULTICLUSTER_QUEUE_SIZE } from '../../../src/core/attribute.ts'
import type { PluginType } from '../../../src/core/contract.ts'
import { pluginTypes } from '../../../src/plugins/index.ts'

const PLUGINS = join(import.meta.dirname, '../../../src/plugins')

const folders = readdirSync(PLUGINS, { withFileTypes: true })
  .filter((kind) => kind.isDirectory())
  .flatMap((kind) => readdirSync(join(PLUGINS, kind.name), { withFileTypes: true }).filter((type) => type.isDirectory()).map((type) => `${kind.name}/${type.name}`))
  .filter((folder) => existsSync(join(PLUGINS, folder, 'README.md')))

/** Stands for a plugin of the user's own, which some examples need. */
const crossCluster: PluginType = {
  type: 'cross-cluster-extractor',
  kinds: ['extractor'],
  stability: 'alpha',
  create: ({ name }) => ({ typedName: { type: 'cross-cluster-extractor', name }, produces: () => [MULTICLUSTER_KV_CACHE_USAGE, MULTICLUSTER_QUEUE_SIZE] }),
}

const HEADER = 'apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n'

describe.each(folders)('the README of %s', (folder) => {
  const text = readFileSync(join(PLUGINS, folder, 'README.md'), 'utf8')

  it('bears the name of its folder', () => expect(text.split('\n')[0]).toBe(`# ${folder.split('/')[1] ?? ''}`))

  it('has examples that load', () => {
    const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, example = '']) => example)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      const whole = example.startsWith('apiVersion') ? example : HEADER + example
      const { completed } = loadConfiguration({ texts: [{ file: 'README.md', text: whole }], pluginTypes: [...pluginTypes, crossCluster], allowExperimental: true })
      expect(completed.plugins.length).toBeGreaterThan(0)
    }
  })
})
