import { createRequire } from 'node:module'
import type { Cl100k } from '../aibrix/index.ts'

type Encode = (text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }) => readonly number[]

const require = createRequire(import.meta.url)
/** Names of special tokens in a prompt are text like any other. */
const NO_SPECIAL = { disallowedSpecial: new Set<string>() }
let encode: Encode | undefined

/** Cuts text into cl100k_base tokens. The vocabulary is loaded at the first call: few need it, and it is large. */
export const cl100k: Cl100k = (text) => {
  encode ??= (require('gpt-tokenizer/encoding/cl100k_base') as { readonly encode: Encode }).encode
  return Uint32Array.from(encode(text, NO_SPECIAL))
}
