import type { LoadLedger } from '../../core/load-ledger.ts'
import type { Engine } from '../../engine/engine.ts'
import type { HeldLoad } from './own-load.ts'
import { toldBlocks } from './told-blocks.ts'

/** The profile whose endpoint computes the prompt as the primary one's does. Its name is not configurable. (llm-d) */
const PREFILL_PROFILE = 'prefill'

/**
 * What a request holds: as the plugin counts it whose ledger is given, without one as the engine itself does. With the
 * block keys of the kinds given, of those that are guesses without.
 */
export const heldLoad = ({ requests, ledger }: Pick<Engine['view'], 'requests' | 'ledger'>, counted: LoadLedger | undefined, request: number, kinds?: ReadonlySet<string>): readonly HeldLoad[] => {
  const held = (counted ?? ledger).assignmentsOf(request)
  if (held.length === 0) return []
  const live = requests.get(request)
  const blocks = toldBlocks(live?.shape.prompts ?? [], kinds)
  return held.map((assignment) => ({
    attempt: live?.attempt ?? 1,
    profile: assignment.profile,
    endpoint: assignment.endpoint.id,
    incarnation: assignment.endpoint.incarnation,
    promptTokens: counted?.holdsPrompt(assignment) === false ? 0 : assignment.promptTokens,
    outputTokens: assignment.outputTokens,
    blocks: assignment.profile === live?.result?.primary || assignment.profile === PREFILL_PROFILE ? blocks : [],
  }))
}
