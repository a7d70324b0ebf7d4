/** Tokens at most in one request: 64 MB of them, more than any body can hold as text. Media counts come from the client. */
export const TOKENS_MAX = 16_777_216

/** What is kept between requests; longer prompts get room of their own. */
const KEPT_BYTES = 1_048_576

/**
 * Packs UTF-8 bytes into 32-bit tokens, four bytes a token, little-endian, zero-padded: the text is encoded straight into
 * the memory of the tokens, so no token is touched one by one. (llm-d: estimate backend)
 */
export class Packer {
  private kept = new Uint8Array(65_536)
  private bytes: Uint8Array = this.kept
  private words = new Uint32Array(this.kept.buffer)
  private at = 0
  private start = 0
  private readonly encoder = new TextEncoder()

  /** Forgets what was packed before: tokens taken from it without a copy change from here on. */
  begin(): void {
    if (this.bytes.length <= KEPT_BYTES) this.kept = this.bytes as Uint8Array<ArrayBuffer>
    this.use(this.kept as Uint8Array<ArrayBuffer>)
    this.at = 0
    this.start = 0
  }

  text(text: string): void {
    let rest = text
    for (;;) {
      // Room as if it were ASCII, and for one character of any length, so that each round gets on.
      this.reserve(rest.length + 3)
      const { read, written } = this.encoder.encodeInto(rest, this.at === 0 ? this.bytes : this.bytes.subarray(this.at))
      this.at += written
      if (read === rest.length) return
      rest = rest.slice(read)
    }
  }

  /** `count` equal tokens; returns where the first is, counted from the start of the prompt. */
  repeat(token: number, count: number): number {
    this.pad()
    this.reserve(4 * count)
    const first = this.at / 4
    this.words.fill(token, first, first + count)
    this.at += 4 * count
    return first - this.start
  }

  /** Ends the prompt and gives its tokens: a view of this packer's memory, good until `begin`. */
  prompt(): Uint32Array {
    this.pad()
    const tokens = this.words.subarray(this.start, this.at / 4)
    this.start = this.at / 4
    return tokens
  }

  private pad(): void {
    this.reserve(3)
    while (this.at % 4 !== 0) this.bytes[this.at++] = 0
  }

  private reserve(more: number): void {
    const needed = this.at + more
    if (needed > 4 * TOKENS_MAX) throw new RangeError(`the request has more than ${TOKENS_MAX} tokens`)
    if (needed <= this.bytes.length) return
    const grown = new Uint8Array(4 * Math.ceil(Math.max(needed, 2 * this.bytes.length) / 4))
    grown.set(this.bytes.subarray(0, this.at))
    this.use(grown)
  }

  private use(bytes: Uint8Array<ArrayBuffer>): void {
    this.bytes = bytes
    this.words = new Uint32Array(bytes.buffer)
  }
}
