import type { PluginType } from '../../../core/contract.ts'
import { roleFilter } from '../role.ts'

/** Keeps endpoints whose role includes prefill. (llm-d: prefill-filter) */
export const prefillFilter: PluginType = roleFilter('prefill-filter', ['prefill', 'encode-prefill', 'prefill-decode', 'both', 'encode-prefill-decode'], false)
