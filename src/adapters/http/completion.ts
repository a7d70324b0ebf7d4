/**
 * A value that is settled once: the first value wins, and what is to be done with it is done once. Between an
 * endpoint, a client, a scheduler and a shutdown, several may end the same request.
 */
export class Completion<T> {
  #isSettled = false
  #value: T | undefined
  readonly #perform: (value: T) => void

  constructor(perform: (value: T) => void) {
    this.#perform = perform
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** The value that won; undefined until then. */
  get value(): T | undefined {
    return this.#value
  }

  /** Whether this value is the one that counts. It stays settled when performing throws. */
  settle(value: T): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#value = value
    this.#perform(value)
    return true
  }
}
