/** Longer than the usage event and the end mark together. */
const TAIL_MAX = 4096
const DONE = 'data: [DONE]'

export interface StreamUsage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
}

/** Reads a streamed chat completion at the least cost: when its first and last pieces came, and what its end says. */
export class ChatStream {
  firstAtMs = 0
  lastAtMs = 0
  #tail = ''

  take(piece: Buffer, nowMs: number): void {
    if (this.firstAtMs === 0) this.firstAtMs = nowMs
    this.lastAtMs = nowMs
    this.#tail = (this.#tail + piece.toString('latin1')).slice(-TAIL_MAX)
  }

  /** True when the end mark was seen. */
  get done(): boolean {
    return this.#tail.trimEnd().endsWith(DONE)
  }

  /** What an error event says, if the stream ended with one. */
  get error(): string | undefined {
    const at = this.#tail.lastIndexOf('data: {"error"')
    return at < 0 ? undefined : this.#tail.slice(at + 'data: '.length).split('\n', 1)[0]
  }

  /** The usage event; undefined when there was none. */
  get usage(): StreamUsage | undefined {
    const at = this.#tail.lastIndexOf('"usage":{')
    if (at < 0) return undefined
    const text = this.#tail.slice(at)
    const promptTokens = numberAfter(text, /"prompt_tokens":\s*(\d+)/)
    const completionTokens = numberAfter(text, /"completion_tokens":\s*(\d+)/)
    if (promptTokens === undefined || completionTokens === undefined) return undefined
    return { promptTokens, completionTokens, cachedTokens: numberAfter(text, /"cached_tokens":\s*(\d+)/) ?? 0 }
  }

  /** The end of what came, for an error message. */
  get tail(): string {
    return this.#tail.slice(-200)
  }
}

function numberAfter(text: string, pattern: RegExp): number | undefined {
  const match = pattern.exec(text)
  return match === null ? undefined : Number(match[1])
}
