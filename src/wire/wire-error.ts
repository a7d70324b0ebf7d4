/** Bytes that are no message, or a value that no message can hold. */
export class WireError extends Error {
  override readonly name: string = 'WireError'
  readonly code = 'wire-malformed' as const
}
