/** The text's UTF-8 bytes in base64, with padding. (RFC 4648) */
export const encodeBase64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

/** The text again; '' for what is no base64 of UTF-8. */
export const decodeBase64 = (encoded: string): string => {
  try {
    const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return ''
  }
}
