import type { Plugin, PluginContext, PluginType, TypedName } from '../../../core/contract.ts'
import { durationMs } from '../../../core/duration.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { joinHostPort, splitHostPort } from '../../../core/address.ts'
import { decodeParametersOf, flag, int, ParameterError, text } from '../../../core/parameters.ts'

const TYPE = 'metrics-data-source'

const FIELDS = {
  scheme: text('http'),
  path: text('/metrics'),
  port: int(undefined),
  insecureSkipVerify: flag(true),
  caCertPath: text(''),
  clientCertPath: text(''),
  clientKeyPath: text(''),
  interval: durationMs(undefined),
}

/** How metrics are fetched. */
export interface MetricsSourceSettings {
  readonly scheme: string
  readonly path: string
  /** Takes the place of the endpoint's own port; undefined for that. From 1 to 65535. */
  readonly port: number | undefined
  readonly insecureSkipVerify: boolean
  readonly caCertPath: string
  readonly clientCertPath: string
  readonly clientKeyPath: string
  /** Undefined for the command line's. */
  readonly intervalMs: number | undefined
}

/** Says where an endpoint's metrics are and how often to ask; the asking is an adapter's. (llm-d: metrics-data-source) */
export class MetricsDataSource implements Plugin {
  readonly typedName: TypedName
  readonly settings: MetricsSourceSettings

  constructor(name: string, settings: MetricsSourceSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
  }

  /** scheme://host:port/path: the endpoint's metrics address, or its own. */
  urlOf(endpoint: Pick<Endpoint, 'hostPort' | 'metricsHostPort'>): string {
    const { scheme, path, port } = this.settings
    const address = endpoint.metricsHostPort || endpoint.hostPort
    return `${scheme}://${port === undefined ? address : joinHostPort(splitHostPort(address).host, port)}${path}`
  }
}

const settingsOf = (context: PluginContext): MetricsSourceSettings => {
  const { interval, ...given } = decodeParametersOf(`failed to parse the parameters of ${TYPE}: `, context.parameters, FIELDS)
  if (given.scheme !== 'http' && given.scheme !== 'https') throw new ParameterError(`unsupported scheme: "${given.scheme}", must be "http" or "https"`, ['scheme'])
  if (!given.path.startsWith('/')) throw new ParameterError(`path must begin with "/", got "${given.path}"`, ['path'])
  if (given.port !== undefined && (given.port < 1 || given.port > 65_535)) throw new ParameterError(`port must be between 1 and 65535, got ${given.port}`, ['port'])
  if ((given.clientCertPath === '') !== (given.clientKeyPath === '')) throw new ParameterError('clientCertPath and clientKeyPath go together', ['clientCertPath'])
  if (interval !== undefined && interval <= 0) throw new ParameterError(`interval must be positive, got ${interval} ms`, ['interval'])
  return { ...given, intervalMs: interval }
}

export const metricsDataSource: PluginType = {
  type: TYPE,
  kinds: ['source'],
  stability: 'beta',
  create: (context) => new MetricsDataSource(context.name, settingsOf(context)),
}
