/** How often the line is drawn anew. */
const DRAW_EVERY_MS = 100

/** A line of progress on standard error, where somebody is there to see it. */
export class Progress {
  private readonly label: string
  private readonly total: number
  private readonly things: string
  private readonly begun = performance.now()
  private drawnAt = 0

  constructor(label: string, total: number, things = 'records') {
    this.label = label
    this.total = total
    this.things = things
  }

  /** Tells that so many of the total are done. */
  at(done: number): void {
    const now = performance.now()
    if (!process.stderr.isTTY || now - this.drawnAt < DRAW_EVERY_MS) return
    this.drawnAt = now
    const share = this.total === 0 ? 1 : done / this.total
    const filled = Math.round(share * BAR)
    const rate = done / ((now - this.begun) / 1000)
    process.stderr.write(`\r${this.label} [${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] ${Math.floor(share * 100)} %  ${Math.round(rate).toLocaleString('en')} ${this.things}/s `)
  }

  /** Takes the line away; gives the seconds since the start. */
  end(): number {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
    return (performance.now() - this.begun) / 1000
  }
}

const BAR = 30
