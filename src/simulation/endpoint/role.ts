/** The values of the label `llm-d.ai/role`; the empty string stands for an endpoint without it. */
export const ROLES = [
  '', 'decode', 'prefill', 'encode', 'prefill-decode', 'both', 'encode-prefill', 'encode-prefill-decode',
] as const
export type Role = (typeof ROLES)[number]

export const ROLE_LABEL = 'llm-d.ai/role'

/** Whether an endpoint of this role takes whole requests and so has a sidecar in front. */
export function decodes(role: Role): boolean {
  return role === '' || role === 'both' || role.endsWith('decode')
}

export function encodes(role: Role): boolean {
  return role.startsWith('encode')
}

/** What a request was to the endpoint that served it; `plain` is a whole request, prefill and decode in one place. */
export type WorkKind = 'encode' | 'prefill' | 'decode' | 'plain'
