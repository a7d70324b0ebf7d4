import type { Plugin, PluginContext, PluginType, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, flag, ParameterError, text } from '../../../core/parameters.ts'
import { readEndpointsFile, type EndpointsFile } from './endpoints-file.ts'

export { FILE_BYTES_MAX, type EndpointsFile, type FileProblem } from './endpoints-file.ts'

const TYPE = 'file-discovery'

export interface FileDiscoverySettings {
  readonly path: string
  readonly watchFile: boolean
}

/** Says which file names the endpoints, and reads its document; opening and watching it is an adapter's. (llm-d: file-discovery) */
export class FileDiscovery implements Plugin {
  readonly typedName: TypedName
  readonly settings: FileDiscoverySettings

  constructor(name: string, settings: FileDiscoverySettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
  }

  /** Takes the file's parsed document. */
  read(document: unknown): EndpointsFile {
    return readEndpointsFile(document)
  }
}

const settingsOf = (context: PluginContext): FileDiscoverySettings => {
  const settings = decodeParametersOf(`failed to parse the parameters of ${TYPE}: `, context.parameters, { path: text(''), watchFile: flag(false) })
  if (settings.path === '') throw new ParameterError(`${TYPE}: path is required`, ['path'])
  return settings
}

export const fileDiscovery: PluginType = {
  type: TYPE,
  kinds: ['discovery'],
  stability: 'beta',
  create: (context) => new FileDiscovery(context.name, settingsOf(context)),
}
