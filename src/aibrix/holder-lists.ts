import { copied, NONE } from './prefix-columns.ts'

const FIRST_HOLDERS = 1024

/** Who holds a block: by model and pod, each by its number, with the time at which it was given the block last. */
export interface Holder {
  readonly model: number
  readonly pod: number
  readonly at: number
}

/** A list of holders for each place, in columns. */
export class HolderLists {
  /** Holders in all lists together. */
  size = 0
  private first: Int32Array
  private model = new Int32Array(FIRST_HOLDERS)
  private pod = new Int32Array(FIRST_HOLDERS)
  private at = new Float64Array(FIRST_HOLDERS)
  /** The next holder of the same place; of free ones the next free one. */
  private next = new Int32Array(FIRST_HOLDERS)
  private free = NONE
  private used = 0

  constructor(places: number) {
    this.first = new Int32Array(places).fill(NONE)
  }

  /** Makes room for more places. */
  reach(places: number): void {
    const before = this.first.length
    if (places > before) this.first = copied(this.first, new Int32Array(places)).fill(NONE, before)
  }

  /** Notes a holder; whether it is new there. */
  note(place: number, model: number, pod: number, at: number): boolean {
    for (let holder = this.first[place] as number; holder !== NONE; holder = this.next[holder] as number) {
      if (this.model[holder] !== model || this.pod[holder] !== pod) continue
      this.at[holder] = at
      return false
    }
    const holder = this.room()
    this.model[holder] = model
    this.pod[holder] = pod
    this.at[holder] = at
    this.next[holder] = this.first[place] as number
    this.first[place] = holder
    this.size += 1
    return true
  }

  /** Writes `stamp` into the marks of the pods that hold a place for a model. */
  mark(place: number, model: number, marks: Int32Array, stamp: number): void {
    for (let holder = this.first[place] as number; holder !== NONE; holder = this.next[holder] as number) {
      if (this.model[holder] === model) marks[this.pod[holder] as number] = stamp
    }
  }

  /** Takes holders of a place away: those of a pod, or all; tells each. */
  drop(place: number, pod: number | undefined, dropped: (model: number, pod: number) => void): void {
    let before = NONE
    for (let holder = this.first[place] as number; holder !== NONE;) {
      const next = this.next[holder] as number
      if (pod !== undefined && this.pod[holder] !== pod) {
        before = holder
      } else {
        if (before === NONE) this.first[place] = next
        else this.next[before] = next
        this.next[holder] = this.free
        this.free = holder
        this.size -= 1
        dropped(this.model[holder] as number, this.pod[holder] as number)
      }
      holder = next
    }
  }

  of(place: number): Holder[] {
    const holders: Holder[] = []
    for (let holder = this.first[place] as number; holder !== NONE; holder = this.next[holder] as number) {
      holders.push({ model: this.model[holder] as number, pod: this.pod[holder] as number, at: this.at[holder] as number })
    }
    return holders
  }

  private room(): number {
    if (this.free !== NONE) {
      const holder = this.free
      this.free = this.next[holder] as number
      return holder
    }
    if (this.used === this.model.length) {
      const holders = 2 * this.used
      this.model = copied(this.model, new Int32Array(holders))
      this.pod = copied(this.pod, new Int32Array(holders))
      this.at = copied(this.at, new Float64Array(holders))
      this.next = copied(this.next, new Int32Array(holders))
    }
    return this.used++
  }
}

/** Names by number, for as long as something bears them; the numbers of names that nothing bears are given again. */
export class HeldNames {
  private readonly numbers = new Map<string, number>()
  private readonly names: string[] = []
  private readonly held: number[] = []
  private readonly free: number[] = []

  /** Numbers are below this. */
  get end(): number {
    return this.names.length
  }

  find(name: string): number {
    return this.numbers.get(name) ?? NONE
  }

  /** The number of a name, held once more. */
  hold(name: string): number {
    const known = this.numbers.get(name)
    const number = known ?? this.free.pop() ?? this.names.length
    if (known === undefined) {
      this.numbers.set(name, number)
      this.names[number] = name
      this.held[number] = 0
    }
    this.holdAgain(number)
    return number
  }

  /** A name that is held already, once more. */
  holdAgain(number: number): void {
    this.held[number] = (this.held[number] ?? 0) + 1
  }

  /** Held once less. */
  release(number: number): void {
    const left = (this.held[number] ?? 0) - 1
    this.held[number] = left
    if (left > 0) return
    this.numbers.delete(this.names[number] ?? '')
    this.free.push(number)
  }

  /** All names that are held. */
  all(): readonly string[] {
    return [...this.numbers.keys()]
  }
}
