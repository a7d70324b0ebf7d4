import type { JournalLink } from '../../journal/port.ts'

/** How often it is looked how far the journal is; far below the server's wait for an acknowledgement. */
const LOOK_MS = 20

/** Acknowledges messages when the journal holds what the engine made of them, so that a crash loses none. */
export class JournaledAcks {
  private readonly journal: JournalLink
  private readonly depth: () => number
  private readonly waiting: { readonly position: number; acknowledge(): void }[] = []
  private timer: NodeJS.Timeout | undefined

  /** `depth` gives how many inputs wait for room in the journal. */
  constructor(journal: JournalLink, depth: () => number) {
    this.journal = journal
    this.depth = depth
  }

  /** To be called when the message is the engine's: its record is at most the journal's last when all that waits is taken. */
  add(acknowledge: () => void): void {
    this.waiting.push({ position: this.journal.lastPosition + this.depth(), acknowledge })
    this.timer ??= setTimeout(() => this.look(), LOOK_MS)
  }

  close(): void {
    clearTimeout(this.timer)
  }

  private look(): void {
    this.timer = undefined
    const reached = this.journal.acknowledgedPosition
    let done = 0
    while ((this.waiting[done]?.position ?? Infinity) <= reached) done += 1
    for (const { acknowledge } of this.waiting.splice(0, done)) acknowledge()
    if (this.waiting.length > 0) this.timer = setTimeout(() => this.look(), LOOK_MS)
  }
}
