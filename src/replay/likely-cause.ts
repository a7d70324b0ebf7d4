import type { EngineStarted } from '../wire/input.ts'
import type { Divergence } from './divergence.ts'

/** What is known of the code that replays. */
export interface ReplayingCode {
  readonly version: string
  readonly types: ReadonlySet<string>
}

/** Why a replay probably came to another answer, in a sentence. */
export const likelyCause = (divergence: Divergence, started: EngineStarted | undefined, code: ReplayingCode): string => {
  const foreign = (started?.plugins ?? []).filter(({ contentHash }) => contentHash !== '').map(({ name }) => name)
  const unknown = (started?.plugins ?? []).filter(({ type }) => !code.types.has(type)).map(({ type }) => type)
  if (unknown.length > 0) return `Plugin set: the journal was written with ${unknown.join(', ')}, which are not here.`
  if (foreign.length > 0) return `Plugin set: ${foreign.join(', ')} are not built in, and their code may be another one now.`
  if (started !== undefined && started.version !== code.version) return `Version: written by ${started.version}, replayed by ${code.version}, and what decides changed between them.`
  if (divergence.field === 'state') return 'Configuration or state: the decisions are the same, but what the engine remembers is not.'
  if (divergence.field === 'position' || divergence.field === 'atUs') return 'Corruption: position or time of the record do not follow from the one before.'
  return 'Code: the same version and the same plugins decide otherwise, so the code was changed without a new version, or the record was changed.'
}
