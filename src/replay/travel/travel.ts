import type { Engine } from '../../engine/engine.ts'
import type { EngineOptions } from '../../engine/context.ts'
import { Chain } from '../../journal/chain.ts'
import { recordsOf } from '../../journal/record.ts'
import type { RecordRun } from '../../journal/record.ts'
import type { StateAt } from '../../journal/state-message.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { compareDecisions } from '../divergence.ts'
import type { Divergence } from '../divergence.ts'
import { encodeState, engineAt } from '../engine-at.ts'
import type { FeedPart } from '../feed/feed.ts'
import { Recorder } from '../timeline/recorder.ts'
import type { Timeline } from '../timeline/timeline.ts'

/** Records between two keyframes: doing half of them again takes a few milliseconds. */
const KEYFRAME_EVERY = 1000
/** Bytes of keyframes kept; above it every other one goes, so that a seek takes at most twice as long. */
const KEYFRAME_BYTES_MAX = 256 * 1024 * 1024

/** A journal through which one can travel: all of it done again once, and any position reached from the nearest keyframe. */
export class Travel {
  readonly start: StateAt
  /** What engines here are made with. */
  readonly plainOptions: EngineOptions
  private readonly recorder: Recorder = new Recorder()
  private engine: Engine
  private chain: Chain | undefined = undefined
  private readonly runs: RecordRun[] = []
  private keyframes: StateAt[]
  private keyframeBytes = 0
  private keyframeEvery = KEYFRAME_EVERY
  private cursor: Engine | undefined = undefined
  /** Whether the cursor came to where it is by a record, and so has its receipts. */
  private cursorStepped = false
  /** The first difference between the journal and the code; later records are done again all the same. */
  divergence: Divergence | undefined = undefined
  divergences = 0

  constructor(options: EngineOptions, start: StateAt) {
    this.start = start
    this.plainOptions = options
    this.keyframes = [start]
    this.engine = engineAt({ ...options, watch: this.recorder.watch }, start)
    this.recorder.begin(this.engine)
  }

  /** Position of the last record taken. */
  get last(): number {
    return this.engine.position
  }

  get timeline(): Timeline {
    return this.recorder.timeline
  }

  /**
   * Takes what comes next in the journal.
   * @throws JournalError where the journal is not whole; what was taken before stays
   */
  take(part: FeedPart): void {
    if (part.kind === 'base') this.takeBase(part.bytes)
    if (part.kind === 'batch') this.takeBatch(part.bytes)
  }

  /** An engine as it stood after the record at `position`. It is lent: the next seek may move it. */
  seek(position: number): Engine {
    const wanted = Math.max(this.start.position, Math.min(position, this.last))
    // The record itself is always done again, so that its receipts are there.
    const keyframe = this.keyframeBefore(wanted)
    const { cursor } = this
    const engine = cursor !== undefined && (cursor.position < wanted || (cursor.position === wanted && this.cursorStepped)) && cursor.position >= keyframe.position ? cursor : engineAt(this.plainOptions, keyframe)
    if (engine !== cursor) this.cursorStepped = false
    this.cursor = undefined
    for (const record of this.records(engine.position + 1, wanted)) {
      engine.step(record.input ?? { input: undefined }, record.atUs)
      this.cursorStepped = true
    }
    this.cursor = engine
    return engine
  }

  /** The newest saved state before a position. */
  keyframeBefore(position: number): StateAt {
    return this.keyframes.findLast((each) => each.position < position) ?? this.start
  }

  /** The state after a position, as the journal would keep it. */
  stateAt(position: number): StateAt {
    return position <= this.start.position ? this.start : encodeState(this.seek(position))
  }

  /** The record at a position. Throws SignalboxError journal-position. */
  record(position: number): JournalRecord {
    for (const record of this.records(position, position)) return record
    throw new SignalboxError('journal-position', `position ${position} is not loaded: ${this.start.position + 1} to ${this.last} are`)
  }

  /** Records `from` to `to`, as far as they are there. */
  *records(from: number, to: number): Generator<JournalRecord, void, undefined> {
    for (let at = this.runAt(from); at < this.runs.length; at += 1) {
      const run = this.runs[at] as RecordRun
      if (run.firstPosition > to) return
      for (const record of recordsOf(run, 0, from)) {
        if (record.position > to) return
        yield record
      }
    }
  }

  private runAt(position: number): number {
    let low = 0
    let high = this.runs.length
    while (low < high) {
      const middle = (low + high) >> 1
      const run = this.runs[middle] as RecordRun
      if (run.firstPosition + run.count <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  private takeBase(bytes: Uint8Array): void {
    this.chain ??= new Chain(this.last)
    const base = this.chain.base(bytes)
    if (base.missing === undefined) return
    this.engine = engineAt({ ...this.plainOptions, watch: this.recorder.watch }, base)
    this.recorder.skip(this.engine)
    this.keyframes.push({ position: base.position, atUs: base.atUs, state: base.state, stateHash: base.stateHash })
  }

  private takeBatch(bytes: Uint8Array): void {
    this.chain ??= Chain.at(bytes, this.last + 1)
    const batch = this.chain.batch(bytes)
    this.runs.push(batch)
    for (const record of recordsOf(batch, 0, this.last + 1)) this.step(record)
  }

  private step(record: JournalRecord): void {
    this.recorder.before(record.atUs)
    const turn = this.engine.step(record.input ?? { input: undefined }, record.atUs)
    const divergence = compareDecisions(record.position, record.decisions, turn.record.decisions)
    if (divergence !== undefined) {
      this.divergences += 1
      this.divergence ??= divergence
    }
    this.recorder.after(turn, divergence !== undefined)
    if (record.position - (this.keyframes.at(-1)?.position ?? 0) >= this.keyframeEvery) this.keep()
  }

  private keep(): void {
    const keyframe = encodeState(this.engine)
    this.keyframes.push(keyframe)
    this.keyframeBytes += keyframe.state.length
    if (this.keyframeBytes <= KEYFRAME_BYTES_MAX) return
    this.keyframeEvery *= 2
    this.keyframes = this.keyframes.filter((_, i) => i % 2 === 0)
    this.keyframeBytes = this.keyframes.reduce((sum, each) => sum + each.state.length, 0)
  }
}
