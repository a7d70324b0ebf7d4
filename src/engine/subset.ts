import { splitHostPort } from '../core/address.ts'
import type { Endpoint } from '../core/endpoint.ts'

/** Whether a caller's subset allows the endpoint: an entry without port allows every port of its address. */
export const inSubset = (endpoint: Endpoint, addresses: readonly string[]): boolean =>
  addresses.some((entry) => {
    const { host, port } = splitHostPort(entry)
    return host === endpoint.address && (port === undefined || port === String(endpoint.port))
  })
