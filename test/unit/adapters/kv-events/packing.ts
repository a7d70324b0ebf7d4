import { pack } from '../../../../src/simulation/endpoint/packing.ts'
import type { Packable } from '../../../../src/simulation/endpoint/packing.ts'

/** A BlockStored event as an array, as vLLM publishes it. */
export const stored = (blocks: readonly Packable[], tokens: readonly number[], more: { readonly parent?: Packable; readonly size?: number; readonly medium?: Packable; readonly adapter?: Packable; readonly extras?: Packable; readonly group?: number; readonly kind?: Packable } = {}): Packable =>
  ['BlockStored', blocks, more.parent ?? null, tokens, more.size ?? 2, null, more.medium ?? 'GPU', more.adapter ?? null, more.extras ?? null, more.group ?? null, more.kind ?? null]

export const removed = (blocks: readonly Packable[], medium: Packable = 'GPU', group: Packable = null): Packable => ['BlockRemoved', blocks, medium, group]

export const batch = (...events: readonly Packable[]): Buffer => pack([{ seconds: 1.5 }, events, 0])
