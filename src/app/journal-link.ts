import { createActor } from 'xstate'
import { journalLinkMachine } from '../../machines/index.ts'

/** The journal's state, for readiness and for people: XState's own actor of the machine, since it moves rarely. */
export class JournalLinkActor {
  private readonly actor = createActor(journalLinkMachine)

  constructor(onState: (state: string) => void) {
    this.actor.subscribe((snapshot) => onState(String(snapshot.value)))
    this.actor.start()
  }

  /** recovering, live, spooling, catchingUp, closing or stopped. */
  get state(): string {
    return String(this.actor.getSnapshot().value)
  }

  send(type: 'recovered' | 'writeFailed' | 'writeSucceeded' | 'caughtUp' | 'close' | 'closed'): void {
    this.actor.send({ type })
  }

  stop(): void {
    this.actor.stop()
  }
}
