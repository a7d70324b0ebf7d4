import { byCodeUnit } from '../core/order.ts'
import { HeldNames, HolderLists } from './holder-lists.ts'
import { NONE, PrefixColumns } from './prefix-columns.ts'

/** Bounds of a prefix table. Times in microseconds. */
export interface PrefixTableLimits {
  readonly blocks: number
  readonly timeToLiveUs: number
  readonly sweepIntervalUs: number
}

/** A table as plain data; equal tables give equal data. */
export interface SavedPrefixTable {
  readonly sweptAt: number
  readonly models: readonly string[]
  readonly pods: readonly string[]
  /**
   * In order of writing, all little-endian: hash (8 bytes), time of writing (double), number of holders (32 bits), and of
   * each holder model and pod (32 bits each, by the lists above) and time (double).
   */
  readonly blocks: Uint8Array
}

const BLOCK_BYTES = 20
const HOLDER_BYTES = 16

/** Which pods were given which prompt blocks lately. (AIBrix: prefix cache hash table) */
export class PrefixTable {
  private readonly timeToLive: number
  private readonly sweepInterval: number
  private readonly columns: PrefixColumns
  private readonly holders: HolderLists
  private readonly models = new HeldNames()
  private readonly pods = new HeldNames()
  /** By pod: the last look at a block in which it was among the holders. */
  private marks = new Int32Array(16)
  private looks = 0
  private sweptAt = 0

  constructor(limits: PrefixTableLimits) {
    this.timeToLive = limits.timeToLiveUs
    this.sweepInterval = limits.sweepIntervalUs
    this.columns = new PrefixColumns(limits.blocks, (place) => this.holders.drop(place, undefined, this.dropped))
    this.holders = new HolderLists(this.columns.places)
  }

  get size(): number {
    return this.columns.size
  }

  /**
   * Percent of the prompt's blocks, floored, that each of the pods holds without a gap from the first block on; pods that
   * hold none are left out.
   */
  matchPrefix(hashes: readonly bigint[], model: string, pods: readonly string[]): Map<string, number> {
    const matched = new Map<string, number>()
    const modelNumber = this.models.find(model)
    let left = pods.map((pod) => this.pods.find(pod)).filter((pod) => pod !== NONE)
    if (modelNumber === NONE || left.length === 0) return matched
    const words = wordsOf(hashes)
    /** Blocks from the first on, by pod. */
    const depths = new Map<number, number>()
    for (let i = 0; i < hashes.length && left.length > 0; i++) {
      const place = this.columns.find(words[2 * i] as number, words[2 * i + 1] as number)
      const look = this.nextLook()
      if (place !== NONE) this.holders.mark(place, modelNumber, this.marks, look)
      if (left.every((pod) => this.marks[pod] === look)) continue
      for (const pod of left) if (this.marks[pod] !== look) depths.set(pod, i)
      left = left.filter((pod) => this.marks[pod] === look)
    }
    for (const pod of left) depths.set(pod, hashes.length)
    for (const pod of pods) {
      const depth = depths.get(this.pods.find(pod)) ?? 0
      if (depth > 0) matched.set(pod, Math.floor((depth * 100) / hashes.length))
    }
    return matched
  }

  /** Notes that the pod was given these blocks now. */
  addPrefix(hashes: readonly bigint[], model: string, pod: string, now: number): void {
    const words = wordsOf(hashes)
    // Held while it lasts: an eviction on the way must not free the numbers.
    const modelNumber = this.models.hold(model)
    const podNumber = this.pods.hold(pod)
    for (let i = 0; i < hashes.length; i++) {
      const place = this.columns.write(words[2 * i] as number, words[2 * i + 1] as number, now)
      this.note(place, modelNumber, podNumber, now)
    }
    this.dropped(modelNumber, podNumber)
  }

  /** Forgets a pod: a new life of it holds nothing. */
  forgetPod(pod: string): void {
    const number = this.pods.find(pod)
    if (number === NONE) return
    for (let place = this.columns.oldest; place !== NONE; place = this.columns.after(place)) this.holders.drop(place, number, this.dropped)
  }

  /** Removes what is too old, at most once in each interval. */
  sweepAt(now: number): void {
    if (now - this.sweptAt < this.sweepInterval) return
    this.sweptAt = now
    const { columns } = this
    while (columns.oldest !== NONE && now - (columns.writtenAt[columns.oldest] as number) > this.timeToLive) columns.remove(columns.oldest)
  }

  save(): SavedPrefixTable {
    const { columns, holders } = this
    const models = [...this.models.all()].sort(byCodeUnit)
    const pods = [...this.pods.all()].sort(byCodeUnit)
    const modelAt = new Map(models.map((name, index) => [this.models.find(name), index]))
    const podAt = new Map(pods.map((name, index) => [this.pods.find(name), index]))
    const blocks = new Uint8Array(columns.size * BLOCK_BYTES + holders.size * HOLDER_BYTES)
    const view = new DataView(blocks.buffer)
    let at = 0
    for (let place = columns.oldest; place !== NONE; place = columns.after(place)) {
      const list = holders.of(place).map((holder) => ({ model: modelAt.get(holder.model) ?? 0, pod: podAt.get(holder.pod) ?? 0, at: holder.at }))
      list.sort((a, b) => a.model - b.model || a.pod - b.pod)
      view.setUint32(at, columns.low[place] as number, true)
      view.setUint32(at + 4, columns.high[place] as number, true)
      view.setFloat64(at + 8, columns.writtenAt[place] as number, true)
      view.setUint32(at + 16, list.length, true)
      at += BLOCK_BYTES
      for (const holder of list) {
        view.setUint32(at, holder.model, true)
        view.setUint32(at + 4, holder.pod, true)
        view.setFloat64(at + 8, holder.at, true)
        at += HOLDER_BYTES
      }
    }
    return { sweptAt: this.sweptAt, models, pods, blocks }
  }

  /**
   * Takes what was saved, into an empty table.
   * @throws RangeError where the bytes are not those of a table
   */
  load({ sweptAt, models, pods, blocks }: SavedPrefixTable): void {
    this.sweptAt = sweptAt
    const modelNumbers = models.map((name) => this.models.hold(name))
    const podNumbers = pods.map((name) => this.pods.hold(name))
    const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength)
    for (let at = 0; at < blocks.length;) {
      const place = this.columns.write(view.getUint32(at, true), view.getUint32(at + 4, true), view.getFloat64(at + 8, true))
      const end = at + BLOCK_BYTES + view.getUint32(at + 16, true) * HOLDER_BYTES
      for (at += BLOCK_BYTES; at < end; at += HOLDER_BYTES) {
        const [model, pod] = [modelNumbers[view.getUint32(at, true)], podNumbers[view.getUint32(at + 4, true)]]
        if (model === undefined || pod === undefined) throw new RangeError('a holder without a name')
        this.note(place, model, pod, view.getFloat64(at + 8, true))
      }
    }
    for (const number of modelNumbers) this.models.release(number)
    for (const number of podNumbers) this.pods.release(number)
  }

  private note(place: number, model: number, pod: number, at: number): void {
    this.holders.reach(this.columns.places)
    if (!this.holders.note(place, model, pod, at)) return
    this.models.holdAgain(model)
    this.pods.holdAgain(pod)
  }

  private readonly dropped = (model: number, pod: number): void => {
    this.models.release(model)
    this.pods.release(pod)
  }

  private nextLook(): number {
    if (this.marks.length < this.pods.end) this.marks = new Int32Array(2 * this.pods.end)
    if (this.looks === LOOKS_MAX) {
      this.marks.fill(0)
      this.looks = 0
    }
    this.looks += 1
    return this.looks
  }
}

/** Marks are of 32 bits with their sign. */
const LOOKS_MAX = 0x7fff_ffff

/** The hashes as halves of 32 bits, the low one first. */
const wordsOf = (hashes: readonly bigint[]): Uint32Array => {
  const bytes = new DataView(new ArrayBuffer(8 * hashes.length))
  hashes.forEach((hash, i) => bytes.setBigUint64(8 * i, hash, true))
  const words = new Uint32Array(2 * hashes.length)
  for (let i = 0; i < words.length; i++) words[i] = bytes.getUint32(4 * i, true)
  return words
}
