import type { CompletedConfiguration } from '../core/configuration.ts'
import { SignalboxError } from '../core/errors.ts'

const TYPE = 'file-discovery'

/**
 * The configuration with its endpoints in this file, read again when it changes. For configurations that say nothing of
 * discovery, as llm-d's own do where Kubernetes tells of the endpoints.
 * @throws SignalboxError usage when the configuration names a discovery of its own
 */
export const withEndpointsFile = (configuration: CompletedConfiguration, path: string): CompletedConfiguration => {
  if (configuration.dataLayer.discovery !== undefined) {
    throw new SignalboxError('usage', `--endpoints ${path}: the configuration names its own discovery, \`${configuration.dataLayer.discovery}\`; take one of the two out`)
  }
  return {
    ...configuration,
    plugins: [...configuration.plugins, { name: TYPE, type: TYPE, parameters: { path, watchFile: true }, injected: true }],
    dataLayer: { ...configuration.dataLayer, discovery: TYPE },
  }
}
