/** Four bytes to a token, so that an answer measures as many tokens as it has; all safe inside JSON strings. */
const WORDS = [
  ' the', ' red', ' and', ' set', ' for', ' run', ' all', ' way', ' one', ' key', ' now', ' day', ' out', ' far', ' two', ' sea',
  ' old', ' new', ' who', ' how', ' see', ' ask', ' put', ' act', ' big', ' car', ' cut', ' end', ' eye', ' few', ' get', ' job',
]

/** The text of token `index` of the answer to a prompt: the same prompt always gets the same words. */
export function outputToken(promptKey: number, index: number): string {
  const mixed = Math.imul((promptKey | 0) ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca77)
  return WORDS[mixed >>> 27] as string
}
