import { LABELS, type Pod } from '../pod.ts'
import { BodyError } from './body-edit.ts'

/** How vLLM endpoints pass KV blocks on. */
export type Connector = 'shfs' | 'nixl' | 'mooncake'

const CONNECTORS: readonly string[] = ['mooncake', 'nixl', 'shfs'] satisfies Connector[]

/** The connector's name for a prefill pod: its label's, whatever its case, where that is known, else the fleet's as it stands. */
export const connectorName = (pod: Pod, fleetWide: string): string => {
  const label = (pod.labels.get(LABELS.connector) ?? '').toLowerCase()
  return CONNECTORS.includes(label) ? label : fleetWide
}

/** The connector of a prefill pod. @throws BodyError for a name that is none */
export const connectorOf = (pod: Pod, fleetWide: string): Connector => {
  const name = connectorName(pod, fleetWide)
  if (!CONNECTORS.includes(name)) throw new BodyError(`unknown KV transfer connector type "${name}" (valid: [${CONNECTORS.join(' ')}])`)
  return name as Connector
}
