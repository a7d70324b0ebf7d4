import type { EngineActor } from '../actors/engine-actor.ts'
import type { SignalboxError } from '../core/errors.ts'
import type { Input } from '../wire/input.ts'
import { INBOX_MAX, inboxRoom } from './inbox-room.ts'

/** What KV events come to, on its way into the engine; it knows how much of that waits there. */
export class KvInbox {
  /** Inputs that wait for the engine, of whatever kind, from which on KV events are not read. */
  readonly capacity = INBOX_MAX
  private readonly actor: EngineActor
  private inputs = 0

  constructor(actor: EngineActor) {
    this.actor = actor
  }

  /** Inputs of KV events that the engine has not come to. */
  get waiting(): number {
    return this.inputs
  }

  submit(input: Input, refused?: (error: SignalboxError) => void): void {
    this.inputs += 1
    this.actor.submit(
      input,
      () => this.gone(),
      (error) => {
        this.gone()
        refused?.(error)
      },
    )
  }

  /** Undefined while there is room for more; else resolves when there is. */
  readonly room = (): Promise<void> | undefined => inboxRoom(this.actor)

  private gone(): void {
    this.inputs -= 1
  }
}
