import type { EndpointDescription } from '../../core/endpoint.ts'
import { byCodeUnit, byId } from '../../core/order.ts'

/** What to do to get from one set of endpoints to another; each list by id. */
export interface EndpointChanges {
  readonly joined: readonly EndpointDescription[]
  readonly updated: readonly EndpointDescription[]
  readonly left: readonly string[]
}

export const changesBetween = (known: ReadonlyMap<string, EndpointDescription>, found: readonly EndpointDescription[]): EndpointChanges => {
  const ids = new Set(found.map(({ id }) => id))
  const sorted = [...found].sort(byId)
  return {
    joined: sorted.filter(({ id }) => !known.has(id)),
    updated: sorted.filter((endpoint) => {
      const old = known.get(endpoint.id)
      return old !== undefined && !isSame(old, endpoint)
    }),
    left: [...known.keys()].filter((id) => !ids.has(id)).sort(byCodeUnit),
  }
}

const isSame = (a: EndpointDescription, b: EndpointDescription): boolean =>
  a.address === b.address && a.port === b.port && a.metricsHostPort === b.metricsHostPort && sameTexts(a.labels, b.labels) && sameTexts(a.annotations, b.annotations)

const sameTexts = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean => {
  if (a.size !== b.size) return false
  for (const [name, value] of a) if (b.get(name) !== value) return false
  return true
}
