import type { ParsedRequest } from '../../core/body.ts'

/** A request into whose body nobody looks. */
export const RAW_REQUEST: ParsedRequest = {
  api: 'raw',
  model: '',
  streaming: false,
  maxOutputTokens: undefined,
  includeUsage: undefined,
  body: { kind: 'raw', cacheSalt: '' },
  rewritable: false,
  readsResponse: true,
}
