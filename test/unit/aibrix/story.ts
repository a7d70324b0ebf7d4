import { routingKeys, routingBlocksKind } from '../../../src/aibrix/index.ts'
import { loadConfiguration } from '../../../src/config/load.ts'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import { KNOWN_TYPES, pluginTypes } from '../../../src/plugins/index.ts'
import type { Input } from '../../../src/wire/input.ts'
import { received } from '../../story/inputs.ts'

/** A configuration with AIBrix's router, completed as a file would be. */
export const aibrixConfiguration = (parameters: Readonly<Record<string, unknown>> = {}, environment: Readonly<Record<string, string>> = {}, signalbox = ''): CompletedConfiguration =>
  loadConfiguration({
    texts: [{ file: 'c.yaml', text: yaml(parameters) }, ...(signalbox === '' ? [] : [{ file: 's.yaml', text: `apiVersion: signalbox/v1\nkind: SignalboxConfig\n${signalbox}\n` }])],
    pluginTypes, knownTypes: KNOWN_TYPES, environment, allowExperimental: true,
  }).completed

const yaml = (parameters: Readonly<Record<string, unknown>>): string => `apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: EndpointPickerConfig
plugins:
  - type: aibrix-pd-profile-handler
    parameters: ${JSON.stringify(parameters)}
schedulingProfiles:
  - name: decode
    plugins: []
  - name: prefill
    plugins: []
`

/** An endpoint of a roleset. */
export const pdEndpoint = (name: string, role: string, roleset: string, more: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>>; readonly incarnation?: string } = {}): Input => ({
  input: {
    kind: 'endpointJoined',
    value: {
      endpoint: {
        id: `default/${name}`, address: '10.0.0.1', port: 8000, incarnation: more.incarnation ?? '1', metricsHostPort: '',
        labels: listOf({ 'role-name': role, 'roleset-name': roleset, ...more.labels }),
        annotations: listOf(more.annotations ?? {}),
      },
    },
  },
})

const listOf = (record: Readonly<Record<string, string>>): { name: string; value: string }[] => Object.entries(record).map(([name, value]) => ({ name, value }))

/** A request whose prompt is this text, as a front door would tell of it. */
export const prompted = (requestId: string, text: string, blockBytes = 4, headers: Readonly<Record<string, string>> = {}): Input => {
  const blocks = routingKeys(text, [{ kind: routingBlocksKind('character', '0'), blockTokens: blockBytes }, { kind: 'cl100k_base', blockTokens: 1 }], (words) => new Uint32Array(words.split(' ').length))
  return received(requestId, { shape: { tokenized: true, prompts: [{ tokens: 8, blocks: [...blocks], media: [] }], problem: '' }, headers: listOf(headers) })
}

export const stageEnded = (request: number, stage = 'prefill', attempt = 1): Input => ({ input: { kind: 'stageEnded', value: { request, attempt, stage, status: 200 } } })
