import type { Observation } from '../../../core/contract.ts'

type Labels = Readonly<Record<string, string>>

/** Blocks in the index, over all endpoints. */
export const sizeMeasured = (labels: Labels, blocks: number): Observation => ({ kind: 'gauge', name: 'prefix_indexer_size', labels, value: blocks })

/** How much of a prompt its endpoint was taken to hold; of an empty prompt there is no share. */
export const matchMeasured = (labels: Labels, matchedBytes: number, totalBytes: number): readonly Observation[] => [
  ...(totalBytes > 0 ? [{ kind: 'histogram', name: 'prefix_indexer_hit_ratio', labels, value: matchedBytes / totalBytes } as const] : []),
  { kind: 'histogram', name: 'prefix_indexer_hit_bytes', labels, value: matchedBytes },
]
