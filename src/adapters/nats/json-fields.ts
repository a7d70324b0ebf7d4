/** A JSON object whose fields are not trusted yet. */
export type JsonObject = Readonly<Record<string, unknown>>

/** The JSON object that the bytes are; undefined where they are none. */
export const jsonObject = (bytes: Uint8Array): JsonObject | undefined => {
  try {
    const value = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')) as unknown
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A text, "" when absent; undefined where it is something else. */
export const textOf = (given: unknown): string | undefined => (given === undefined ? '' : typeof given === 'string' ? given : undefined)

/** A whole number from 0, 0 when absent, also as text as protobuf's JSON has 64-bit numbers; undefined where it is something else. */
export const wholeOf = (given: unknown): number | undefined => {
  const value = given === undefined ? 0 : typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
