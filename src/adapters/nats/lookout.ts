import { JetStreamApiError } from '@nats-io/jetstream'
import type { NatsLink } from './connection.ts'

/** Far below the half minute after which the library finds out by itself. */
const LOOK_MS = 2000

/**
 * Looks from time to time whether something is still on the server: who deletes or purges it tells nobody, and a
 * consumer that waits for messages may be told much later or not at all.
 */
export class Lookout {
  private readonly timer: NodeJS.Timeout
  private looking = false

  /** `isThere` may throw what JetStream answers: then it is not there; any other failure says nothing. */
  constructor(link: NatsLink, isThere: () => Promise<boolean>, gone: () => void) {
    this.timer = setInterval(() => {
      if (this.looking || !link.connected) return
      this.looking = true
      void isThere()
        .catch((error: unknown) => !(error instanceof JetStreamApiError))
        .then((there) => (there ? undefined : gone()))
        .finally(() => (this.looking = false))
    }, LOOK_MS)
  }

  close(): void {
    clearInterval(this.timer)
  }
}
