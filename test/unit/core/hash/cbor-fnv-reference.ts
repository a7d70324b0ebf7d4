/** Block keys with BigInt and real CBOR bytes, written from the formulas and nothing else: the oracle of the tests. */

const MASK = (1n << 64n) - 1n

export const referenceFnv = (bytes: readonly number[]): bigint => {
  let hash = 0xcbf29ce484222325n
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & MASK
  return hash
}

export type Item = bigint | string | null | readonly Item[] | { readonly Hash: string }

const head = (major: number, value: bigint): number[] => {
  const start = major * 32
  if (value < 24n) return [start + Number(value)]
  const size = value < 256n ? 1 : value < 65_536n ? 2 : value < 4_294_967_296n ? 4 : 8
  const bytes = Array.from({ length: size }, (_, at) => Number((value >> BigInt(8 * (size - 1 - at))) & 255n))
  return [start + { 1: 24, 2: 25, 4: 26, 8: 27 }[size], ...bytes]
}

const isList = (item: Item): item is readonly Item[] => Array.isArray(item)

export const cbor = (item: Item): number[] => {
  if (item === null) return [0xf6]
  if (typeof item === 'bigint') return head(0, item)
  if (typeof item === 'string') {
    const bytes = [...new TextEncoder().encode(item)]
    return [...head(3, BigInt(bytes.length)), ...bytes]
  }
  if (isList(item)) return [...head(4, BigInt(item.length)), ...item.flatMap(cbor)]
  return [...head(5, 1n), ...cbor('Hash'), ...cbor(item.Hash)]
}

const utf8 = (text: string): number[] => [...new TextEncoder().encode(text)]

export const referenceRoot = (seed: string, model: string): bigint => referenceFnv(cbor([referenceFnv(utf8(seed)), null, model]))

export const referenceKeys = (parent: bigint, tokens: readonly number[], blockTokens: number, extras: readonly (readonly string[])[]): bigint[] => {
  const keys: bigint[] = []
  for (let block = 0; (block + 1) * blockTokens <= tokens.length; block++) {
    const own = extras[block] ?? []
    const ids = tokens.slice(block * blockTokens, (block + 1) * blockTokens).map(BigInt)
    keys.push(referenceFnv(cbor([keys.at(-1) ?? parent, ids, own.length === 0 ? null : own.map((Hash) => ({ Hash }))])))
  }
  return keys
}
