import { loadConfiguration } from '../../config/load.ts'
import type { Engine } from '../../engine/engine.ts'
import { KNOWN_TYPES, pluginTypes } from '../../plugins/index.ts'
import { engineOptions } from '../../replay/engine-options.ts'
import { inspectionEvents } from '../../replay/exports/inspection.ts'
import { sliceFile } from '../../replay/exports/slice.ts'
import { sliceTest } from '../../replay/exports/slice-test.ts'
import { flips } from '../../replay/flip/flip.ts'
import type { Flip } from '../../replay/flip/flip.ts'
import { fork } from '../../replay/fork/fork.ts'
import type { ForkedDecision } from '../../replay/fork/fork.ts'
import { likelyCause } from '../../replay/likely-cause.ts'
import { sentence } from '../../replay/sentence.ts'
import { MARKS } from '../../replay/timeline/timeline.ts'
import { lastWrite } from '../../replay/travel/probe.ts'
import type { Probe } from '../../replay/travel/probe.ts'
import { Travel } from '../../replay/travel/travel.ts'
import type { EngineStarted } from '../../wire/input.ts'
import { actorLook } from './actor-look.ts'
import { engineLook, inputText } from './engine-look.ts'
import type { ActorLook, ForkResult, JournalInfo, Look, RequestStory, Source, Story } from './messages.ts'
import { openSource } from './source.ts'
import type { JournalSource } from './source.ts'
import { storyOf } from './story.ts'

/** Receipts are looked at one record at a time. */
const RECEIPT_BYTES = 4 * 1024 * 1024
/** Changed decisions shown with their receipts; all are counted. */
const CHANGES_SHOWN_MAX = 500

/** One open journal, and all that can be asked of it. */
export class Session {
  private readonly progress: (done: number, total: number) => void
  private source: JournalSource | undefined = undefined
  private loaded: Travel | undefined = undefined
  private fault = ''

  constructor(progress: (done: number, total: number) => void) {
    this.progress = progress
  }

  async open(source: Source): Promise<Story> {
    this.source = await openSource(source)
    this.fault = ''
    this.loaded = new Travel(engineOptions([], { receiptBytes: RECEIPT_BYTES }), await this.source.start())
    await this.read()
    return this.story()
  }

  async pull(): Promise<Story | undefined> {
    const before = this.travel.last
    await this.read()
    return this.travel.last === before ? undefined : this.story()
  }

  look(position: number): Look {
    return engineLook(this.travel, position)
  }

  actor(machine: 'request' | 'endpoint', actor: number | string, position: number): ActorLook {
    return actorLook(this.travel, machine, actor, position)
  }

  requestStory(request: number): RequestStory {
    const { records } = this.travel.timeline
    const positions: number[] = []
    for (let i = 0; i < records.request.length; i += 1) if (records.request.at(i) === request) positions.push(records.first + i)
    const decided = positions
      .filter((position) => (records.marks.at(position - records.first) & (MARKS.routed | MARKS.rejected)) !== 0)
      .flatMap((position) => this.travel.seek(position).receipts(position).filter((receipt) => receipt.request === request))
    const told = positions.map((position) => {
      const record = this.travel.record(position)
      return { position, atUs: record.atUs, kind: record.input?.input?.kind ?? 'unknown', detail: inputText(record.input, true) }
    })
    const arrival = positions[0] === request ? this.travel.record(request).input?.input : undefined
    return {
      key: request, records: told, decided: decided.map((receipt) => ({ receipt, sentence: sentence(receipt) })),
      id: arrival?.kind === 'requestReceived' ? arrival.value.requestId : (decided[0]?.requestId ?? ''),
    }
  }

  lastWrite(probe: Probe, position: number): number | undefined {
    return lastWrite(this.travel, probe, position)
  }

  flips(position: number, request: number): readonly Flip[] {
    const before = this.travel.stateAt(position - 1)
    return flips(this.travel.plainOptions, before, this.travel.record(position), request)
  }

  /** The completed configuration in force at a position, as text. */
  configuration(position: number): string {
    const started = this.travel.seek(position).view.started?.configuration
    return started === undefined ? '' : JSON.stringify(JSON.parse(started), null, 2)
  }

  fork(yaml: string): ForkResult {
    const completed = yaml.trimStart().startsWith('{')
      ? JSON.parse(yaml)
      : loadConfiguration({ texts: [{ file: 'fork.yaml', text: yaml }], pluginTypes, knownTypes: KNOWN_TYPES, allowExperimental: true }).completed
    const changes: ForkedDecision[] = []
    const { travel } = this
    const run = fork(travel.plainOptions, travel.start, travel.records(travel.start.position + 1, travel.last), completed)
    for (;;) {
      const step = run.next()
      if (step.done === true) return { summary: step.value, changes }
      if (typeof step.value === 'number') this.progress(step.value, travel.last)
      else if (changes.length < CHANGES_SHOWN_MAX) changes.push(step.value)
    }
  }

  slice(from: number, to: number): Uint8Array {
    return sliceFile(this.travel.stateAt(from - 1), this.travel.records(from, to))
  }

  sliceTest(from: number, to: number): string {
    return sliceTest(this.slice(from, to), [...this.travel.records(from, to)])
  }

  inspection(from: number, to: number): string {
    return inspectionEvents(this.travel.timeline, from, to).map((event) => JSON.stringify(event)).join('\n')
  }

  private get travel(): Travel {
    if (this.loaded === undefined) throw new Error('no journal is open')
    return this.loaded
  }

  /** Takes all that the source has. What cannot be read ends it, and what was read stays. */
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
      this.fault = error instanceof Error ? error.message : String(error)
    }
  }

  private story(): Story {
    return storyOf(this.travel.timeline, this.info())
  }

  private info(): JournalInfo {
    const { travel, source } = this
    const started = startedOf(travel.seek(travel.last))
    const code = { version: source?.version ?? '', types: new Set([...pluginTypes].map(({ type }) => type)) }
    return {
      name: source?.name ?? '', live: source?.live ?? false,
      firstPosition: travel.start.position + 1, lastPosition: travel.last, oldestPosition: source?.oldestPosition ?? 1,
      version: code.version, writtenBy: started?.version ?? '', runId: started?.runId ?? '', pool: started?.pool ?? '',
      fault: this.fault, divergence: travel.divergence, divergences: travel.divergences,
      cause: travel.divergence === undefined ? '' : likelyCause(travel.divergence, started, code),
    }
  }
}

const startedOf = (engine: Engine): EngineStarted | undefined => engine.view.started
