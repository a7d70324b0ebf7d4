import { BodyError, edited, kindOf, type BodyChanges } from './body-edit.ts'

/** What every prefill asks for: one token, at once, in one piece. */
export const ONE_TOKEN: BodyChanges = { set: [['max_tokens', '1'], ['max_completion_tokens', '1'], ['stream', 'false']], drop: ['stream_options', 'min_tokens'] }

/** A body to prefill: an object; null is an empty one. @throws BodyError for anything else */
const objectBody = (body: Uint8Array): Uint8Array => {
  let kind
  try {
    kind = kindOf(body)
  } catch (error) {
    throw new BodyError(`the request body is not valid JSON: ${messageOf(error)}`)
  }
  if (kind === 'null') return new TextEncoder().encode('{}')
  if (kind === 'other') throw new BodyError('the request body is not a JSON object')
  return body
}

/** The prefill leg's body: the client's with some members of the engine's own and those that make it one token. */
export const prefillBody = (body: Uint8Array, engines: BodyChanges['set'], changes: BodyChanges = ONE_TOKEN): Uint8Array =>
  edited(objectBody(body), { set: [...engines, ...changes.set], ...(changes.drop === undefined ? {} : { drop: changes.drop }) })

/** The client's body, where something is to be put into it. @throws BodyError */
export const mergeableBody = (body: Uint8Array): Uint8Array => {
  let kind
  try {
    kind = kindOf(body)
  } catch (error) {
    throw new BodyError(`failed to unmarshal original request body: ${messageOf(error)}`)
  }
  if (kind === 'null') throw new BodyError('original request body is empty or null')
  if (kind === 'other') throw new BodyError('original request body is not a JSON object')
  return body
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
