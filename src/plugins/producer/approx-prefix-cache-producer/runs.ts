import { KeyTable } from './key-table.ts'
import { Pool } from './pool.ts'
import { RunKeys } from './run-keys.ts'

const LOW = 0
const HIGH = 1
/** The run that it continues, 0 for none. */
const PARENT = 2
/** How many runs continue it. */
const CHILDREN = 3
const LENGTH = 4
/** The list of its keys after the first. */
const REST = 5
const RUN_WORDS = 6

/**
 * Runs of blocks that always came together: a tree, in which each run continues another from its last block on. A key stands
 * for all of its prompt up to there, so it is looked for only where its prompt leads. Known by numbers from 1.
 */
export class Runs {
  private readonly pool = new Pool(RUN_WORDS, 1024)
  private readonly keys = new RunKeys()
  private readonly table = new KeyTable()
  private scratch = new Int32Array(512)

  /** Runs that there are. */
  get live(): number {
    return this.pool.live
  }

  /** Numbers are below this. */
  get end(): number {
    return this.pool.end / RUN_WORDS
  }

  /** Makes room for so many runs in all, and so many blocks in them. */
  reserve(runs: number, blocks: number): void {
    this.pool.reserve(runs)
    this.table.reserve(runs)
    this.keys.reserve(blocks, runs)
  }

  lengthOf(run: number): number {
    return this.pool.words[RUN_WORDS * run + LENGTH] as number
  }

  parentOf(run: number): number {
    return this.pool.words[RUN_WORDS * run + PARENT] as number
  }

  isContinued(run: number): boolean {
    return this.pool.words[RUN_WORDS * run + CHILDREN] !== 0
  }

  /** The run that continues `parent` with this key, 0 where there is none. */
  find(parent: number, low: number, high: number): number {
    const { table } = this
    const { words } = this.pool
    for (let slot = table.home(low); ; slot = table.next(slot)) {
      const run = table.entryAt(slot)
      if (run === 0) return 0
      const at = RUN_WORDS * run
      if (table.lowAt(slot) === low && words[at + HIGH] === high && words[at + PARENT] === parent) return run
    }
  }

  /** How many of the keys from the pair `at` to the pair `end` are this run's; the first is. */
  matched(run: number, keys: Int32Array, at: number, end: number): number {
    const { words } = this.pool
    const most = Math.min(words[RUN_WORDS * run + LENGTH] as number, end - at) - 1
    return 1 + this.keys.matched(words[RUN_WORDS * run + REST] as number, keys, at + 1, most)
  }

  /** Continues `parent` with `blocks` keys, at least one, from the pair `at` on. */
  create(parent: number, keys: Int32Array, at: number, blocks: number): number {
    const rest = this.keys.write(keys, at + 1, blocks - 1)
    const run = this.put(parent, keys[2 * at] as number, keys[2 * at + 1] as number, blocks, rest)
    if (parent !== 0) this.pool.words[RUN_WORDS * parent + CHILDREN]! += 1
    return run
  }

  /** Makes a run of its first `blocks` blocks, fewer than it has, which the run itself then continues. Returns the new one. */
  split(run: number, blocks: number): number {
    const length = this.lengthOf(run)
    const keys = this.read(run)
    const parent = this.parentOf(run)
    this.table.remove(keys[0] as number, run)
    this.keys.free(this.pool.words[RUN_WORDS * run + REST] as number)
    const head = this.put(parent, keys[0] as number, keys[1] as number, blocks, this.keys.write(keys, 1, blocks - 1))
    const rest = this.keys.write(keys, blocks + 1, length - blocks - 1)
    const { words } = this.pool
    words[RUN_WORDS * head + CHILDREN] = 1
    words[RUN_WORDS * run + LOW] = keys[2 * blocks] as number
    words[RUN_WORDS * run + HIGH] = keys[2 * blocks + 1] as number
    words[RUN_WORDS * run + PARENT] = head
    words[RUN_WORDS * run + LENGTH] = length - blocks
    words[RUN_WORDS * run + REST] = rest
    this.table.insert(keys[2 * blocks] as number, run)
    return head
  }

  /** Forgets a run that nothing continues. */
  remove(run: number): void {
    const { words } = this.pool
    const at = RUN_WORDS * run
    this.table.remove(words[at + LOW] as number, run)
    this.keys.free(words[at + REST] as number)
    const parent = words[at + PARENT] as number
    if (parent !== 0) words[RUN_WORDS * parent + CHILDREN]! -= 1
    this.pool.give(run)
  }

  /** Its keys, as pairs of words from 0; good until the next call. */
  read(run: number): Int32Array {
    const length = this.lengthOf(run)
    if (this.scratch.length < 2 * length) this.scratch = new Int32Array(4 * length)
    this.copy(run, this.scratch, 0)
    return this.scratch
  }

  /** Copies its keys to the word `at` of `out`. */
  copy(run: number, out: Int32Array, at: number): void {
    const { words } = this.pool
    const from = RUN_WORDS * run
    out[at] = words[from + LOW] as number
    out[at + 1] = words[from + HIGH] as number
    this.keys.copy(words[from + REST] as number, (words[from + LENGTH] as number) - 1, out, at + 2)
  }

  private put(parent: number, low: number, high: number, length: number, rest: number): number {
    const run = this.pool.take()
    const { words } = this.pool
    const at = RUN_WORDS * run
    words[at + LOW] = low
    words[at + HIGH] = high
    words[at + PARENT] = parent
    words[at + CHILDREN] = 0
    words[at + LENGTH] = length
    words[at + REST] = rest
    this.table.insert(low, run)
    return run
  }
}
