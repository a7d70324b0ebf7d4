import type { ActorRecord } from './interpreter.ts'
import { MachineError } from './errors.ts'

/** The actors that are being sent to right now, outermost first: an action may send, but not back to one of them. */
export class Sends<A extends ActorRecord> {
  readonly #machine: string
  readonly #actors: A[] = []

  constructor(machine: string) {
    this.#machine = machine
  }

  /** The actor whose event is being taken. */
  get current(): A {
    const current = this.#actors[this.#actors.length - 1]
    if (current === undefined) throw new Error('no event is being taken')
    return current
  }

  enter(actor: A): void {
    if (this.#actors.length > 0 && this.#actors.includes(actor)) {
      const fix = 'an action sent to the actor that is running it; send after its own event is taken'
      throw new MachineError('machine-send-within-send', this.#machine, fix)
    }
    this.#actors.push(actor)
  }

  leave(): void {
    this.#actors.pop()
  }
}
