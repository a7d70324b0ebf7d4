import { type Decoded, flag, int, object, ParameterError, text } from '../../../core/parameters.ts'
import type { Field } from '../../../core/parameters.ts'

const FIELDS = {
  zmqEndpoint: text(''),
  topicFilter: text('kv@'),
  concurrency: int(4),
  engineType: text('vllm'),
  discoverPods: flag(true),
  podDiscoveryConfig: object({
    podLabelSelector: text('llm-d.ai/inference-serving=true'),
    podNamespace: text(''),
    socketPort: int(5557),
    replaySocketPort: int(0),
  }),
}

/** Where KV events come from. (llm-d: kvEventsConfig) */
export type KvEventsConfig = Decoded<typeof FIELDS>

const fields = object(FIELDS)

const ENGINES = ['vllm', 'sglang']

export const kvEventsConfig: Field<KvEventsConfig> = {
  fallback: fields.fallback,
  read: (value, path) => {
    const config = fields.read(value, path)
    if (!ENGINES.includes(config.engineType)) throw new ParameterError(`engineType must be "vllm" or "sglang", got "${config.engineType}"`, [...path, 'engineType'])
    for (const name of ['socketPort', 'replaySocketPort'] as const) {
      const port = config.podDiscoveryConfig[name]
      if (port < 0 || port > 65_535) throw new ParameterError(`${name} must be a port, got ${port}`, [...path, 'podDiscoveryConfig', name])
    }
    return config
  },
}
