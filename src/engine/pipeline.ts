import { Column, keyText } from '../core/attribute.ts'
import type { DataKey } from '../core/attribute.ts'
import type {
  AdmissionController, Admitter, Decider, Detector, EndpointEvents, KvEvents, MetricsEvents, PeerLoads, Plugin, PreRequest, Producer, ProfileHandler, Reporter,
  ResponseBody, ResponseHeader, Screener, Services, StageEvents,
} from '../core/contract.ts'
import { SignalboxError } from '../core/errors.ts'
import type { Profile } from '../scheduling/profile.ts'

/** The plugins of one configuration, made and wired, by the role in which the engine calls them. */
export interface Pipeline {
  /** All, in configuration order. */
  readonly plugins: readonly Plugin[]
  readonly profiles: ReadonlyMap<string, Profile>
  readonly profileNames: readonly string[]
  readonly handler: ProfileHandler
  readonly detector: Detector
  readonly admissionControllers: readonly AdmissionController[]
  readonly admitters: readonly Admitter[]
  readonly screeners: readonly Screener[]
  /** Each after those whose data it requires. */
  readonly producers: readonly Producer[]
  readonly preRequests: readonly PreRequest[]
  readonly responseBodies: readonly ResponseBody[]
  readonly responseHeaders: readonly ResponseHeader[]
  readonly reporters: readonly Reporter[]
  readonly endpointEvents: readonly EndpointEvents[]
  readonly stageEvents: readonly StageEvents[]
  readonly metricsEvents: readonly MetricsEvents[]
  readonly kvEvents: readonly KvEvents[]
  readonly peerLoads: readonly PeerLoads[]
  readonly deciders: readonly Decider[]
  readonly columns: ReadonlyMap<string, Column<unknown>>
}

/** What the engine lends to plugins, less the data access that depends on what each declared. */
export type SharedServices = Omit<Services, 'reader' | 'writer' | 'die'> & { die(plugin: string): ReturnType<Services['die']> }

/** Lets each plugin take the readers and writers of the keys it declared; any other key is refused. */
export const setUp = (plugins: readonly Plugin[], shared: SharedServices): ReadonlyMap<string, Column<unknown>> => {
  const columns = new Map<string, Column<unknown>>()
  const column = <T>(key: DataKey<T>): Column<T> => {
    const text = keyText(key)
    let found = columns.get(text)
    if (found === undefined) {
      found = new Column<unknown>()
      columns.set(text, found)
    }
    return found as Column<T>
  }
  for (const plugin of plugins) plugin.setup?.(servicesOf(plugin, shared, column))
  return columns
}

const servicesOf = (plugin: Plugin, shared: SharedServices, column: <T>(key: DataKey<T>) => Column<T>): Services => {
  const consumption = plugin.consumes?.()
  const reads = new Set([...(consumption?.required ?? []), ...(consumption?.optional ?? [])].map(keyText))
  const writes = new Set((plugin.produces?.() ?? []).map(keyText))
  const { name } = plugin.typedName
  const checked = <T>(key: DataKey<T>, declared: ReadonlySet<string>, how: string): Column<T> => {
    if (!declared.has(keyText(key))) throw new SignalboxError('plugin-undeclared-data', `plugin ${name} ${how} ${keyText(key)} without declaring it`)
    return column(key)
  }
  return {
    reader: (key) => checked(key, reads, 'reads'),
    writer: (key) => checked(key, writes, 'writes'),
    die: () => shared.die(name),
    now: shared.now,
    endpoints: shared.endpoints,
    observe: shared.observe,
  }
}
