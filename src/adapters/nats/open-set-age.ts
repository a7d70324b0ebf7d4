/** Who reads from an open set on has at most so many messages to read. */
const MESSAGES_MAX = 2048
/** Whatever a peer missed, and why, is put right within this, in milliseconds. */
const AGE_MAX_MS = 60_000

/** When the open set is to be told again. Time is a monotonic clock's, in milliseconds. */
export class OpenSetAge {
  private messages = 0
  private openedMs = -Infinity

  /** The open set was told. */
  opened(nowMs: number): void {
    this.messages = 0
    this.openedMs = nowMs
  }

  /** So many messages of changes were told. */
  changed(messages: number): void {
    this.messages += messages
  }

  /** Whether what was told since is enough, or old enough; where nothing changed there is nothing to miss. */
  isDue(nowMs: number): boolean {
    return this.messages >= MESSAGES_MAX || (this.messages > 0 && nowMs - this.openedMs >= AGE_MAX_MS)
  }
}
