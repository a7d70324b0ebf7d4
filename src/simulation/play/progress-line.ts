import type { PlayProgress } from './player.ts'

/** What a progress line needs of the stream it goes to. */
export interface ProgressStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

const TERMINAL_INTERVAL_MS = 200
const PLAIN_INTERVAL_MS = 5_000

/** Shows how far a play is: one line that renews itself on a terminal, a line every few seconds elsewhere. */
export class ProgressLine {
  readonly #stream: ProgressStream
  readonly #intervalMs: number
  readonly #startMs = performance.now()
  #shownMs = performance.now()
  #open = false

  constructor(stream: ProgressStream) {
    this.#stream = stream
    this.#intervalMs = stream.isTTY === true ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS
  }

  update(progress: PlayProgress): void {
    const nowMs = performance.now()
    if (nowMs - this.#shownMs < this.#intervalMs) return
    this.#shownMs = nowMs
    const { sent, completed, failed, inFlight } = progress
    const seconds = ((nowMs - this.#startMs) / 1000).toFixed(0)
    const text = `${seconds} s: ${sent} sent, ${completed} completed, ${failed} failed, ${inFlight} in flight`
    if (this.#stream.isTTY === true) {
      this.#stream.write(`\r\u001b[2K${text}`)
      this.#open = true
    } else {
      this.#stream.write(`${text}\n`)
    }
  }

  /** Leaves the line, so that what follows starts on a new one. */
  end(): void {
    if (this.#open) this.#stream.write('\n')
    this.#open = false
  }
}
