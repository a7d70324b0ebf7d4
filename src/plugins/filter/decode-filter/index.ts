import type { PluginType } from '../../../core/contract.ts'
import { roleFilter } from '../role.ts'

/** Keeps endpoints that can decode; one without a role can. (llm-d: decode-filter) */
export const decodeFilter: PluginType = roleFilter('decode-filter', ['decode', 'prefill-decode', 'both', 'encode-prefill-decode'], true)
