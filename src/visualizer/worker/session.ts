import { loadConfiguration } from '../../config/load.ts'
import { KNOWN_TYPES, pluginTypes } from '../../plugins/index.ts'
import { decisionDifferences } from '../../replay/divergence.ts'
import type { Divergence } from '../../replay/divergence.ts'
import { engineAt } from '../../replay/engine-at.ts'
import { engineOptions } from '../../replay/engine-options.ts'
import { inspectionEvents } from '../../replay/exports/inspection.ts'
import { sliceFile } from '../../replay/exports/slice.ts'
import { sliceTest } from '../../replay/exports/slice-test.ts'
import { attributesUsed } from '../../replay/flip/attributes-used.ts'
import type { AttributeUse } from '../../replay/flip/attributes-used.ts'
import { flips } from '../../replay/flip/flip.ts'
import type { Flip } from '../../replay/flip/flip.ts'
import { fork } from '../../replay/fork/fork.ts'
import type { ForkedDecision } from '../../replay/fork/fork.ts'
import { likelyCause } from '../../replay/likely-cause.ts'
import { MARKS } from '../../replay/timeline/timeline.ts'
import { lastWrite } from '../../replay/travel/probe.ts'
import type { Probe } from '../../replay/travel/probe.ts'
import { Travel } from '../../replay/travel/travel.ts'
import { actorLook, nextStep, unknownActor } from './actor-look.ts'
import { decidedAt, engineLook, inputText } from './engine-look.ts'
import type { Receipt } from '../../wire/decision.ts'
import type { ActorLook, Advance, ForkChange, ForkResult, JournalInfo, Look, RequestStory, Source, Story } from './messages.ts'
import { nextReport, recordedAt, recordedLook, undecidableText } from './recorded.ts'
import { openSource, Unreachable } from './source.ts'
import type { JournalSource } from './source.ts'
import { storyOf } from './story.ts'

/** Receipts are looked at one record at a time. */
const RECEIPT_BYTES = 1024 * 1024
/** How long one `advance` takes, so that other questions are answered soon; and the records between two looks at the clock. */
const ADVANCE_MS = 40
const ADVANCE_RECORDS = 64
/** Fields shown in which a record differs. */
const DIFFERENCES_MAX = 60
/** Changed decisions shown; all are counted. */
const CHANGES_SHOWN_MAX = 500
/** Their receipts are kept up to about so many rows of candidates, some 50 MB. */
const CANDIDATES_KEPT_MAX = 200_000

/** One open journal, and all that can be asked of it. */
export class Session {
  private readonly progress: (done: number, total: number) => void
  private source: JournalSource | undefined = undefined
  private loaded: Travel | undefined = undefined
  private fault = ''
  /** Why nothing can be decided again, in words; then only what was recorded is told. */
  private undecidable = ''
  /** Changed decisions of the last fork. */
  private changes: readonly ForkedDecision[] = []

  constructor(progress: (done: number, total: number) => void) {
    this.progress = progress
  }

  /** Reads a journal and tells what its records say; `advance` then decides it all again. */
  async open(source: Source): Promise<Story> {
    this.source = await openSource(source)
    this.fault = ''
    this.undecidable = ''
    this.loaded = new Travel(engineOptions([], { receiptBytes: RECEIPT_BYTES }), await this.source.start())
    await this.read()
    return this.story()
  }

  /** Decides some more again; with the story where that was the last of it, or where the first difference was found. */
  advance(): Advance {
    const { travel } = this
    const end = performance.now() + ADVANCE_MS
    const before = travel.divergence
    let more = this.undecidable === ''
    while (more && travel.divergence === before && performance.now() < end) more = this.decide(ADVANCE_RECORDS)
    return { position: travel.decided, more, story: more && travel.divergence === before ? undefined : this.story() }
  }

  async pull(): Promise<Story | undefined> {
    const before = this.travel.last
    await this.read()
    if (this.travel.last === before) return undefined
    this.decide(Infinity)
    return this.story()
  }

  look(position: number): Look {
    return this.known(position) ? engineLook(this.travel, position) : recordedLook(this.travel, position)
  }

  actor(machine: 'request' | 'endpoint', actor: number | string, position: number): ActorLook {
    return this.known(position) ? actorLook(this.travel, machine, actor, position) : unknownActor(machine, actor)
  }

  requestStory(request: number): RequestStory {
    const { travel } = this
    const { records } = travel.told
    const positions: number[] = []
    for (let i = 0; i < records.request.length; i += 1) if (records.request.at(i) === request) positions.push(records.first + i)
    const decided = positions
      .filter((position) => (records.marks.at(position - records.first) & (MARKS.routed | MARKS.rejected)) !== 0)
      .flatMap((position) => (this.known(position) ? decidedAt(travel, position) : recordedAt(travel, position)))
      .filter(({ receipt }) => receipt.request === request)
    const told = positions.map((position) => {
      const record = travel.record(position)
      return { position, atUs: record.atUs, kind: record.input?.input?.kind ?? 'unknown', detail: inputText(record.input, true) }
    })
    const arrival = positions[0] === request ? travel.record(request).input?.input : undefined
    return { key: request, records: told, decided, id: arrival?.kind === 'requestReceived' ? arrival.value.requestId : (decided[0]?.receipt.requestId ?? '') }
  }

  step(machine: 'request' | 'endpoint', actor: number | string, position: number, direction: 1 | -1): number | undefined {
    return this.undecidable === '' ? nextStep(this.whole, machine, actor, position, direction) : nextReport(this.travel, actor, position, direction)
  }

  differences(position: number): readonly Divergence[] {
    const { plainOptions } = this.whole
    const record = this.whole.record(position)
    const turn = engineAt(plainOptions, this.whole.stateAt(position - 1)).step(record.input ?? { input: undefined }, record.atUs)
    return decisionDifferences(position, record.decisions, turn.record.decisions, DIFFERENCES_MAX)
  }

  lastWrite(probe: Probe, position: number): number | undefined {
    return lastWrite(this.whole, probe, position)
  }

  flips(position: number, request: number): readonly Flip[] {
    const before = this.whole.stateAt(position - 1)
    return flips(this.travel.plainOptions, before, this.travel.record(position), request)
  }

  attributes(position: number, request: number): readonly AttributeUse[] {
    return attributesUsed(this.whole.plainOptions, this.whole.stateAt(position - 1), this.travel.record(position), request)
  }

  /** The completed configuration in force at the end, as text. */
  configuration(): string {
    const started = this.travel.started?.configuration
    return started === undefined ? '' : JSON.stringify(JSON.parse(started), null, 2)
  }

  fork(yaml: string): ForkResult {
    const completed = yaml.trimStart().startsWith('{')
      ? JSON.parse(yaml)
      : loadConfiguration({ texts: [{ file: 'fork.yaml', text: yaml }], pluginTypes, knownTypes: KNOWN_TYPES, allowExperimental: true }).completed
    const changes: ForkedDecision[] = []
    this.changes = changes
    const { whole } = this
    let candidates = 0
    const run = fork(whole.plainOptions, whole.start, whole.records(whole.start.position + 1, whole.last), completed, () => changes.length < CHANGES_SHOWN_MAX && candidates < CANDIDATES_KEPT_MAX)
    for (;;) {
      const step = run.next()
      if (step.done === true) return { summary: step.value, changes: changes.map(withoutReceipts) }
      if (typeof step.value === 'number') this.progress(step.value, whole.last)
      else if (changes.length < CHANGES_SHOWN_MAX) {
        changes.push(step.value)
        candidates += candidatesOf(step.value.recordedReceipt) + candidatesOf(step.value.forkedReceipt)
      }
    }
  }

  forkReceipts(place: number): { readonly recorded: Receipt | undefined; readonly forked: Receipt | undefined } {
    const { recordedReceipt: recorded, forkedReceipt: forked } = this.changes[place] ?? {}
    return { recorded, forked }
  }

  slice(from: number, to: number): Uint8Array {
    return sliceFile(this.whole.stateAt(from - 1), this.travel.records(from, to))
  }

  sliceTest(from: number, to: number): string {
    return sliceTest(this.slice(from, to), [...this.travel.records(from, to)])
  }

  inspection(from: number, to: number): string {
    this.decide(Infinity)
    return inspectionEvents(this.whole.timeline, from, to).map((event) => JSON.stringify(event)).join('\n')
  }

  private get travel(): Travel {
    if (this.loaded === undefined) throw new Error('no journal is open')
    return this.loaded
  }

  /** The journal, for what only an engine can tell. */
  private get whole(): Travel {
    if (this.undecidable !== '') throw new Error(this.undecidable)
    return this.travel
  }

  /** Whether the engine after a record is known already. */
  private known(position: number): boolean {
    return this.undecidable === '' && position <= this.travel.decided
  }

  /** Decides again about so many records more; whether there are yet more that can be. */
  private decide(records: number): boolean {
    if (this.undecidable !== '') return false
    try {
      return this.travel.decide(records)
    } catch (error) {
      this.undecidable = undecidableText(error, this.travel)
      return false
    }
  }

  /**
   * Takes all that the source has. What cannot be read ends it, and what was read stays; a source that does not answer
   * may be asked again.
   */
  private async read(): Promise<void> {
    const { source, travel } = this
    if (source === undefined || this.fault !== '') return
    try {
      for (;;) {
        const parts = await source.after(travel.last)
        if (parts.length === 0) return
        for (const part of parts) travel.take(part)
        this.progress(travel.last, source.lastPosition)
      }
    } catch (error) {
      if (error instanceof Unreachable) throw error
      this.fault = error instanceof Error ? error.message : String(error)
    }
  }

  private story(): Story {
    return storyOf(this.travel.told, this.info())
  }

  private info(): JournalInfo {
    const { travel, source } = this
    const { divergence } = travel
    const started = travel.started
    const code = { version: source?.version ?? '', types: new Set([...pluginTypes].map(({ type }) => type)) }
    return {
      name: source?.name ?? '', live: source?.live ?? false,
      firstPosition: travel.start.position + 1, lastPosition: travel.last, oldestPosition: source?.oldestPosition ?? 1, decidedPosition: travel.decided,
      version: code.version, writtenBy: started?.version ?? '', runId: started?.runId ?? '', pool: started?.pool ?? '',
      fault: this.fault, undecidable: this.undecidable, divergence, divergences: travel.divergences,
      cause: divergence === undefined ? '' : likelyCause(divergence, started, code),
    }
  }
}

const candidatesOf = (receipt: Receipt | undefined): number => receipt?.profiles.reduce((sum, { candidates }) => sum + candidates.length, 0) ?? 0

const withoutReceipts = ({ recordedReceipt, forkedReceipt, ...change }: ForkedDecision): ForkChange => ({ ...change, hasReceipts: recordedReceipt !== undefined || forkedReceipt !== undefined })
