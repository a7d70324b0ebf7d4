import type { PluginType } from '../../../core/contract.ts'
import { roleFilter } from '../role.ts'

/** Keeps endpoints whose role includes encode. (llm-d: encode-filter) */
export const encodeFilter: PluginType = roleFilter('encode-filter', ['encode', 'encode-prefill', 'encode-prefill-decode'], false)
