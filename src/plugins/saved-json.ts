import { SignalboxError } from '../core/errors.ts'

/** State as bytes: JSON in UTF-8. Whoever saves puts what it holds in a fixed order, so equal states give equal bytes. */
export const saveJson = (state: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(state))

/** The state again. Throws `state-invalid` unless it is JSON that `isState` accepts; `what` names it in the message. */
export const loadJson = <T>(bytes: Uint8Array, what: string, isState: (value: unknown) => value is T): T => {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    value = undefined
  }
  if (isState(value)) return value
  throw new SignalboxError('state-invalid', `the saved state of ${what} cannot be read`)
}
