import type { PluginType } from '../core/contract.ts'
import { SignalboxError } from '../core/errors.ts'
import { isDetector } from '../core/roles.ts'
import type { EngineOptions, ExtraPlugin } from '../engine/context.ts'
import { LegacyAdmission } from '../plugins/admitter/legacy-admission/index.ts'
import { pluginTypes } from '../plugins/index.ts'

/** What every engine of a journal is made with, live or replaying: the built-in plugin types and the user's own. */
export const engineOptions = (userTypes: readonly PluginType[] = [], more: Partial<EngineOptions> = {}): EngineOptions => ({
  pluginTypes: new Map([...pluginTypes, ...userTypes].map((type) => [type.type, type])),
  interpreter: 'table',
  extraPlugins: [admission],
  ...more,
})

/** Who admits while flow control is off. (llm-d: legacy admission) */
const admission: ExtraPlugin = (plugin, detectorName) => {
  const detector = plugin(detectorName)
  if (detector === undefined || !isDetector(detector)) throw new SignalboxError('config-unknown-reference', `\`${detectorName}\` is not a saturation detector of this configuration`)
  return new LegacyAdmission(detector)
}
