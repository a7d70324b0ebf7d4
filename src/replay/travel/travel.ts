import type { Engine } from '../../engine/engine.ts'
import type { EngineOptions } from '../../engine/context.ts'
import { Chain } from '../../journal/chain.ts'
import { recordsOf } from '../../journal/record.ts'
import type { RecordRun } from '../../journal/record.ts'
import type { StateAt } from '../../journal/state-message.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { EngineStarted } from '../../wire/input.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { compareDecisions } from '../divergence.ts'
import type { Divergence } from '../divergence.ts'
import { encodeState, engineAt } from '../engine-at.ts'
import type { FeedPart } from '../feed/feed.ts'
import { Recorder } from '../timeline/recorder.ts'
import { Sketch } from '../timeline/sketch.ts'
import type { Timeline } from '../timeline/timeline.ts'

/** Records between two keyframes: doing half of them again takes a few milliseconds. */
const KEYFRAME_EVERY = 1000
/** Bytes of keyframes kept; above it every other one goes, so that a seek takes at most twice as long. */
const KEYFRAME_BYTES_MAX = 256 * 1024 * 1024

/** A guard of an actor's machine that said no. */
interface Refusal {
  readonly machine: 'request' | 'endpoint'
  /** Key of the request, or life of the endpoint. */
  readonly actor: number
  readonly guard: string
}

/** What was taken and is to be decided again: records, or the state behind records that were lost. */
type Due = { readonly kind: 'run'; readonly run: RecordRun } | { readonly kind: 'lost'; readonly state: StateAt }

/**
 * A journal through which one can travel. What it takes is told at once from the records alone; then all of it is decided
 * again once, in as many steps as the caller likes, and any position is reached from the nearest keyframe.
 */
export class Travel {
  readonly start: StateAt
  /** What engines here are made with. */
  readonly plainOptions: EngineOptions
  private readonly recorder: Recorder = new Recorder()
  private sketch: Sketch | undefined
  private leader: Engine | undefined = undefined
  private readonly due: Due[] = []
  private taken: number
  private chain: Chain | undefined = undefined
  private readonly runs: RecordRun[] = []
  private keyframes: StateAt[]
  private keyframeBytes = 0
  private keyframeEvery = KEYFRAME_EVERY
  private cursor: Engine | undefined = undefined
  /** Whether the cursor came to where it is by a record, and so has its receipts and refusals. */
  private cursorStepped = false
  private refused: Refusal[] = []
  private noting = false
  /** What cursors are made with: they tell which guards said no while the last record was taken. */
  private readonly cursorOptions: EngineOptions
  /** The first difference between the journal and the code; later records are done again all the same. */
  divergence: Divergence | undefined = undefined
  divergences = 0

  constructor(options: EngineOptions, start: StateAt) {
    this.start = start
    this.plainOptions = options
    const note = (machine: Refusal['machine'], actor: number, guard: string, passed: boolean): void => {
      if (this.noting && !passed) this.refused.push({ machine, actor, guard })
    }
    this.cursorOptions = {
      ...options,
      watch: {
        request: { guard: (actor, name, passed) => note('request', actor.key, name, passed) },
        endpoint: { guard: (actor, name, passed) => note('endpoint', actor.endpoint.life, name, passed) },
      },
    }
    this.keyframes = [start]
    this.taken = start.position
    this.sketch = new Sketch(start)
  }

  /** Position of the last record taken. */
  get last(): number {
    return this.taken
  }

  /** Position of the last record decided again. */
  get decided(): number {
    return this.leader?.position ?? this.start.position
  }

  /** What the engine showed while it decided again, as far as it came. */
  get timeline(): Timeline {
    return this.recorder.timeline
  }

  /** The story of all that was taken: from the records alone until all of it is decided again. */
  get told(): Timeline {
    return this.sketch?.timeline ?? this.recorder.timeline
  }

  /** How the engine that wrote the last record taken was started; undefined where the journal does not tell. */
  get started(): EngineStarted | undefined {
    return this.sketch?.started ?? this.leader?.view.started
  }

  /**
   * Takes what comes next in the journal.
   * @throws JournalError where the journal is not whole; what was taken before stays
   */
  take(part: FeedPart): void {
    if (part.kind === 'base') this.takeBase(part.bytes)
    if (part.kind === 'batch') this.takeBatch(part.bytes)
  }

  /**
   * Decides again about so many of the records taken that were not yet; whether there are more.
   * @throws SignalboxError where an engine cannot do it, such as config-unknown-plugin
   */
  decide(records: number): boolean {
    let left = records
    this.leader ??= this.begin()
    for (let next = this.due[0]; next !== undefined; next = this.due[0]) {
      if (left <= 0) return true
      if (next.kind === 'lost') this.skip(next.state)
      else left -= this.decideRun(next.run, left)
      if (next.kind === 'lost' || Math.min(this.taken, next.run.firstPosition + next.run.count - 1) <= this.decided) this.due.shift()
    }
    this.sketch = undefined
    return false
  }

  /** An engine as it stood after the record at `position`. It is lent: the next seek may move it. */
  seek(position: number): Engine {
    const wanted = Math.max(this.start.position, Math.min(position, this.last))
    while (this.decided < wanted) this.decide(wanted - this.decided)
    // The record itself is always done again, so that its receipts are there.
    const keyframe = this.keyframeBefore(wanted)
    const { cursor } = this
    const engine = cursor !== undefined && (cursor.position < wanted || (cursor.position === wanted && this.cursorStepped)) && cursor.position >= keyframe.position ? cursor : engineAt(this.cursorOptions, keyframe)
    if (engine !== cursor) this.cursorStepped = false
    if (!this.cursorStepped || engine.position < wanted) this.refused = []
    this.cursor = undefined
    for (const record of this.records(engine.position + 1, wanted)) {
      this.noting = record.position === wanted
      engine.step(record.input ?? { input: undefined }, record.atUs)
      this.cursorStepped = true
    }
    this.noting = false
    this.cursor = engine
    return engine
  }

  /** Guards that said no while the record at a position was taken, in order. */
  refusalsAt(position: number): readonly Refusal[] {
    this.seek(position)
    return this.cursorStepped ? this.refused : []
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
        // Not one more is read: it may be damaged.
        if (record.position === to) return
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
    const state = { position: base.position, atUs: base.atUs, state: base.state, stateHash: base.stateHash }
    this.sketch?.skip(state)
    this.due.push({ kind: 'lost', state })
    this.taken = base.position
  }

  private takeBatch(bytes: Uint8Array): void {
    this.chain ??= Chain.at(bytes, this.last + 1)
    const run = this.chain.batch(bytes)
    this.runs.push(run)
    this.due.push({ kind: 'run', run })
    for (const record of recordsOf(run, 0, this.last + 1)) {
      this.sketch?.take(record)
      this.taken = record.position
    }
  }

  private begin(): Engine {
    const engine = engineAt({ ...this.plainOptions, watch: this.recorder.watch }, this.start)
    this.recorder.begin(engine)
    return engine
  }

  private skip(state: StateAt): void {
    this.leader = engineAt({ ...this.plainOptions, watch: this.recorder.watch }, state)
    this.recorder.skip(this.leader)
    this.keyframes.push(state)
  }

  private decideRun(run: RecordRun, most: number): number {
    const until = Math.min(this.taken, this.decided + most)
    const from = this.decided
    // Not one more is read: it may be damaged.
    for (const record of recordsOf(run, 0, from + 1)) {
      this.step(record)
      if (record.position >= until) break
    }
    return this.decided - from
  }

  private step(record: JournalRecord): void {
    const engine = this.leader ?? this.begin()
    this.recorder.before(record.atUs)
    const turn = engine.step(record.input ?? { input: undefined }, record.atUs)
    const divergence = compareDecisions(record.position, record.decisions, turn.record.decisions)
    if (divergence !== undefined) {
      this.divergences += 1
      this.divergence ??= divergence
    }
    this.recorder.after(turn, divergence !== undefined)
    if (record.position - (this.keyframes.at(-1)?.position ?? 0) >= this.keyframeEvery) this.keep(engine)
  }

  private keep(engine: Engine): void {
    const keyframe = encodeState(engine)
    this.keyframes.push(keyframe)
    this.keyframeBytes += keyframe.state.length
    if (this.keyframeBytes <= KEYFRAME_BYTES_MAX) return
    this.keyframeEvery *= 2
    this.keyframes = this.keyframes.filter((_, i) => i % 2 === 0)
    this.keyframeBytes = this.keyframes.reduce((sum, each) => sum + each.state.length, 0)
  }
}
