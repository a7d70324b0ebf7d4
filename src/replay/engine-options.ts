import type { PluginType } from '../core/contract.ts'
import type { EngineOptions } from '../engine/context.ts'
import { pluginTypes } from '../plugins/index.ts'

/** What every engine of a journal is made with, live or replaying: the built-in plugin types and the user's own. */
export const engineOptions = (userTypes: readonly PluginType[] = [], more: Partial<EngineOptions> = {}): EngineOptions => ({
  pluginTypes: new Map([...pluginTypes, ...userTypes].map((type) => [type.type, type])),
  interpreter: 'table',
  ...more,
})
