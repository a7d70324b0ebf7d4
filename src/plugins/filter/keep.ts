import type { Endpoint } from '../../core/endpoint.ts'

/** Those that pass, in order; the list itself when all do. */
export const keep = (candidates: readonly Endpoint[], passes: (endpoint: Endpoint) => boolean): readonly Endpoint[] => {
  for (let i = 0; i < candidates.length; i++) {
    if (passes(candidates[i] as Endpoint)) continue
    const kept = candidates.slice(0, i)
    for (let j = i + 1; j < candidates.length; j++) {
      const endpoint = candidates[j] as Endpoint
      if (passes(endpoint)) kept.push(endpoint)
    }
    return kept
  }
  return candidates
}
