import type { Request, SchedulingResult } from '../../core/request.ts'

/** Tells the decode side where the prompt is prefilled. */
const PREFILL_HEADER = 'x-prefiller-host-port'
/** Tells the decode side where media are encoded: all endpoints, joined by commas. */
const ENCODE_HEADER = 'x-encoder-hosts-ports'

/**
 * Sets the headers of the stages besides decode. Both are taken off first, whoever sent them: a client must not choose
 * where the decode side connects to. (llm-d: disagg-profile-handler, disagg-headers-handler)
 */
export const writeStageHeaders = (request: Request, result: SchedulingResult, prefillProfile: string, encodeProfile: string): void => {
  request.headers.set(PREFILL_HEADER, '')
  request.headers.set(ENCODE_HEADER, '')
  const prefill = result.results.get(prefillProfile)?.endpoints[0]
  if (prefill !== undefined) request.headers.set(PREFILL_HEADER, prefill.hostPort)
  const encode = result.results.get(encodeProfile)?.endpoints ?? []
  if (encode.length > 0) request.headers.set(ENCODE_HEADER, encode.map((endpoint) => endpoint.hostPort).join(','))
}
