import { Crowd } from './crowd.ts'
import { Pool } from './pool.ts'
import { Shelf } from './shelf.ts'

// The first two words are for its shelf.
const RUN = 2
const SLOT = 3
/** Its first block that is held: those before it are forgotten already. */
const FROM = 4
/** The next of those who hold the run. */
const NEXT = 5
const HOLDING_WORDS = 6

/** Words of a run's record here: how many hold it, how many hold it whole, the first of its list, its crowd. */
const COUNT = 0
const WHOLE = 1
const FIRST = 2
const CROWD = 3
const RUN_WORDS = 4

/** More holders than this stand in a table by slot. It shrinks back only well below: a run on the edge must not go to and fro. */
const LIST_MAX = 32
const CROWD_MIN = 16

/**
 * Who holds which run, from which of its blocks on. A holding is known by a number from 1, and stands in the order of use of
 * its endpoint's shelf. An endpoint forgets the head of what it used longest ago first, so that what it holds of a run is
 * always its end.
 */
export class Holdings {
  private readonly pool = new Pool(HOLDING_WORDS, 1024)
  private runs = new Int32Array(RUN_WORDS * 1024)
  private readonly crowds: (Crowd | undefined)[] = [undefined]
  private readonly freeCrowds: number[] = []

  /** An empty shelf for holdings; `capacity` in blocks. */
  shelf(id: string, capacity: number): Shelf {
    return new Shelf(id, capacity, this.pool)
  }

  /** Nobody holds this new run yet. */
  begin(run: number): void {
    const at = RUN_WORDS * run
    if (at + RUN_WORDS > this.runs.length) {
      const grown = new Int32Array(RUN_WORDS * (run + 1 + Math.ceil(run / 4)))
      grown.set(this.runs)
      this.runs = grown
    }
    this.runs.fill(0, at, at + RUN_WORDS)
  }

  isHeld(run: number): boolean {
    return this.runs[RUN_WORDS * run + COUNT] !== 0
  }

  /** Whether any endpoint holds its first block. */
  isHeldWhole(run: number): boolean {
    return this.runs[RUN_WORDS * run + WHOLE] !== 0
  }

  /** The holding of an endpoint, 0 for none. */
  find(run: number, slot: number): number {
    const { runs } = this
    const crowd = runs[RUN_WORDS * run + CROWD] as number
    if (crowd !== 0) return this.crowd(crowd).at(slot)
    const { words } = this.pool
    let holding = runs[RUN_WORDS * run + FIRST] as number
    while (holding !== 0 && words[HOLDING_WORDS * holding + SLOT] !== slot) holding = words[HOLDING_WORDS * holding + NEXT] as number
    return holding
  }

  /** The holdings of a run, in the order of slots. */
  of(run: number): number[] {
    const crowd = this.runs[RUN_WORDS * run + CROWD] as number
    if (crowd !== 0) return this.crowd(crowd).holdings()
    const found: number[] = []
    for (let holding = this.runs[RUN_WORDS * run + FIRST] as number; holding !== 0; holding = this.word(holding, NEXT)) found.push(holding)
    return found.sort((a, b) => this.slotOf(a) - this.slotOf(b))
  }

  runOf(holding: number): number {
    return this.word(holding, RUN)
  }

  slotOf(holding: number): number {
    return this.word(holding, SLOT)
  }

  fromOf(holding: number): number {
    return this.word(holding, FROM)
  }

  /** From which block on it is held from now on. */
  setFrom(holding: number, from: number): void {
    const { words } = this.pool
    const at = HOLDING_WORDS * holding
    const run = RUN_WORDS * (words[at + RUN] as number)
    this.runs[run + WHOLE]! += Number(from === 0) - Number(words[at + FROM] === 0)
    words[at + FROM] = from
    const crowd = this.runs[run + CROWD] as number
    if (crowd !== 0) this.crowd(crowd).setFrom(words[at + SLOT] as number, from)
  }

  /** A holding that is in no order yet. */
  create(run: number, slot: number, from: number): number {
    const holding = this.pool.take()
    const { words } = this.pool
    const at = HOLDING_WORDS * holding
    words[at + RUN] = run
    words[at + SLOT] = slot
    words[at + FROM] = from
    const record = RUN_WORDS * run
    this.runs[record + COUNT]! += 1
    if (from === 0) this.runs[record + WHOLE]! += 1
    const crowd = this.runs[record + CROWD] as number
    if (crowd !== 0) this.crowd(crowd).set(slot, holding, from)
    else {
      words[at + NEXT] = this.runs[record + FIRST] as number
      this.runs[record + FIRST] = holding
      if ((this.runs[record + COUNT] as number) > LIST_MAX) this.gather(run)
    }
    return holding
  }

  /** Ends a holding, in its order too. */
  remove(shelf: Shelf, holding: number): void {
    shelf.remove(holding)
    const run = this.runOf(holding)
    const record = RUN_WORDS * run
    this.runs[record + COUNT]! -= 1
    if (this.fromOf(holding) === 0) this.runs[record + WHOLE]! -= 1
    const crowd = this.runs[record + CROWD] as number
    if (crowd === 0) this.leave(run, holding)
    else {
      this.crowd(crowd).clear(this.slotOf(holding))
      if ((this.runs[record + COUNT] as number) < CROWD_MIN) this.scatter(run)
    }
    this.pool.give(holding)
  }

  /** Adds to `counts[slot]`, for each holder, how many of the run's first `blocks` blocks it holds. */
  credit(run: number, blocks: number, counts: Int32Array): void {
    const crowd = this.runs[RUN_WORDS * run + CROWD] as number
    if (crowd !== 0) {
      this.crowd(crowd).credit(blocks, counts)
      return
    }
    const { words } = this.pool
    for (let holding = this.runs[RUN_WORDS * run + FIRST] as number; holding !== 0; ) {
      const at = HOLDING_WORDS * holding
      const held = blocks - (words[at + FROM] as number)
      if (held > 0) counts[words[at + SLOT] as number]! += held
      holding = words[at + NEXT] as number
    }
  }

  private word(holding: number, word: number): number {
    return this.pool.words[HOLDING_WORDS * holding + word] as number
  }

  private crowd(number: number): Crowd {
    return this.crowds[number] as Crowd
  }

  /** Takes a holding out of its run's list. */
  private leave(run: number, holding: number): void {
    const { words } = this.pool
    const next = words[HOLDING_WORDS * holding + NEXT] as number
    const first = this.runs[RUN_WORDS * run + FIRST] as number
    if (first === holding) {
      this.runs[RUN_WORDS * run + FIRST] = next
      return
    }
    let before = first
    while (words[HOLDING_WORDS * before + NEXT] !== holding) before = words[HOLDING_WORDS * before + NEXT] as number
    words[HOLDING_WORDS * before + NEXT] = next
  }

  /** From a list to a crowd. */
  private gather(run: number): void {
    const crowd = new Crowd()
    for (const holding of this.of(run)) crowd.set(this.slotOf(holding), holding, this.fromOf(holding))
    const number = this.freeCrowds.pop() ?? this.crowds.length
    this.crowds[number] = crowd
    this.runs[RUN_WORDS * run + CROWD] = number
    this.runs[RUN_WORDS * run + FIRST] = 0
  }

  /** From a crowd to a list. */
  private scatter(run: number): void {
    const number = this.runs[RUN_WORDS * run + CROWD] as number
    const { words } = this.pool
    let first = 0
    for (const holding of this.of(run)) {
      words[HOLDING_WORDS * holding + NEXT] = first
      first = holding
    }
    this.crowds[number] = undefined
    this.freeCrowds.push(number)
    this.runs[RUN_WORDS * run + CROWD] = 0
    this.runs[RUN_WORDS * run + FIRST] = first
  }
}
