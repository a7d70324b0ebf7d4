import type { Receipt } from '../../wire/decision.ts'
import type { Divergence } from '../../replay/divergence.ts'
import type { Probe } from '../../replay/travel/probe.ts'
import type { Spell } from '../../replay/timeline/timeline.ts'
import type { AttributeUse } from '../../replay/flip/attributes-used.ts'
import type { Flip } from '../../replay/flip/flip.ts'
import type { ForkSummary, ForkedDecision } from '../../replay/fork/fork.ts'

/** Where a journal comes from: a server that gives it by position, or a file that the user chose. */
export type Source =
  | { readonly kind: 'server'; readonly url: string; readonly position: number | undefined }
  | { readonly kind: 'file'; readonly name: string; readonly bytes: ArrayBuffer }

export interface JournalInfo {
  readonly name: string
  /** Whether an engine is writing it. */
  readonly live: boolean
  readonly firstPosition: number
  readonly lastPosition: number
  /** Position up to which all was decided again. */
  readonly decidedPosition: number
  /** Why nothing can be decided again, in words; empty where it can. */
  readonly undecidable: string
  /** Position of the journal's first record; more than this page holds may be there. */
  readonly oldestPosition: number
  readonly version: string
  readonly writtenBy: string
  readonly runId: string
  readonly pool: string
  /** Something that stopped the reading, in words. */
  readonly fault: string
  readonly divergence: Divergence | undefined
  readonly divergences: number
  readonly cause: string
}

export interface LaneData {
  readonly id: string
  readonly role: string
  readonly spells: readonly Spell[]
  readonly reportedAt: Float64Array
  readonly waiting: Float64Array
  readonly running: Float64Array
  readonly kvCache: Float64Array
  readonly loadAt: Float64Array
  readonly requests: Float64Array
  readonly tokens: Float64Array
}

export interface BarData {
  readonly lane: Float64Array
  readonly stage: Float64Array
  readonly request: Float64Array
  readonly attempt: Float64Array
  readonly from: Float64Array
  readonly sent: Float64Array
  readonly firstByte: Float64Array
  readonly to: Float64Array
  readonly outcome: Float64Array
}

export interface RequestData {
  readonly key: Float64Array
  readonly receivedAt: Float64Array
  readonly decidedAt: Float64Array
  readonly sentAt: Float64Array
  readonly firstByteAt: Float64Array
  readonly endedAt: Float64Array
  readonly outcome: Float64Array
  readonly model: Float64Array
  readonly decisionType: Float64Array
  readonly lane: Float64Array
  readonly attempts: Float64Array
  readonly promptTokens: Float64Array
  readonly outputTokens: Float64Array
  readonly ids: readonly string[]
  readonly models: readonly string[]
  readonly decisionTypes: readonly string[]
}

interface RecordData {
  readonly first: number
  readonly atUs: Float64Array
  readonly kind: Float64Array
  readonly request: Float64Array
  readonly marks: Float64Array
  readonly kinds: readonly string[]
}

/** All that is drawn, as columns. */
export interface Story {
  readonly info: JournalInfo
  readonly lanes: readonly LaneData[]
  readonly bars: BarData
  readonly requests: RequestData
  readonly records: RecordData
}

export interface EndpointRow {
  readonly id: string
  readonly values: Readonly<Record<string, string | number>>
}

export interface RequestRow {
  readonly key: number
  readonly id: string
  readonly machine: string
  readonly attempt: number
  readonly endpoint: string
  readonly timer: { readonly name: string; readonly inMs: number } | undefined
}

/** A decision with its receipt. */
export interface Decided {
  readonly receipt: Receipt
  readonly sentence: string
  /** Only what the journal says of it: it was not decided again. */
  readonly recordedOnly: boolean
}

/** The engine at a position. */
export interface Look {
  /** Whether the engine after the record is known; without it only the record is told. */
  readonly known: boolean
  readonly position: number
  readonly atUs: number
  readonly kind: string
  /** The record's input, as text to show. */
  readonly input: string
  readonly decided: readonly Decided[]
  readonly endpoints: readonly EndpointRow[]
  readonly requests: readonly RequestRow[]
  readonly liveRequests: number
  readonly timers: readonly { readonly owner: string; readonly key: number; readonly name: string; readonly inMs: number }[]
}

export interface StepRow {
  readonly position: number
  readonly edge: string
  readonly from: string
  readonly to: string
}

/** One actor of a machine at a position. */
export interface ActorLook {
  /** Whether the engine there is known. */
  readonly known: boolean
  readonly label: string
  /** Paths of the innermost active states; empty when it is not there. */
  readonly active: readonly string[]
  readonly steps: readonly StepRow[]
  /** Edges that the record at the position took. */
  readonly taken: readonly string[]
  /** Guards that said no while the record was taken. */
  readonly refusedBy: readonly string[]
  readonly timers: readonly { readonly name: string; readonly inMs: number }[]
  /** How often each edge was taken up to here, by any actor. */
  readonly heat: Readonly<Record<string, number>>
}

export interface RequestStory {
  readonly key: number
  readonly id: string
  readonly records: readonly { readonly position: number; readonly atUs: number; readonly kind: string; readonly detail: string }[]
  readonly decided: readonly Decided[]
}

/** A changed decision without its receipts, which are asked for when somebody looks. */
export interface ForkChange extends Omit<ForkedDecision, 'recordedReceipt' | 'forkedReceipt'> {
  readonly hasReceipts: boolean
}

export interface ForkResult {
  readonly summary: ForkSummary
  readonly changes: readonly ForkChange[]
}

/** How far a journal was decided again. */
export interface Advance {
  readonly position: number
  readonly more: boolean
  /** The story, once there is no more or the first difference was found. */
  readonly story: Story | undefined
}

/** What the worker can be asked. */
export interface Questions {
  /** What the records say; to be followed by `advance` until there is no more. */
  open(source: Source): Story
  advance(): Advance
  /** Pulls what the journal got since; the story again when there was something. */
  pull(): Story | undefined
  look(position: number): Look
  actor(machine: 'request' | 'endpoint', actor: number | string, position: number): ActorLook
  story(request: number): RequestStory
  /** Position of the next transition of an actor after a position, or of the one before; undefined where there is none. */
  step(machine: 'request' | 'endpoint', actor: number | string, position: number, direction: 1 | -1): number | undefined
  /** The fields in which a record's decisions now differ from those recorded. */
  differences(position: number): readonly Divergence[]
  lastWrite(probe: Probe, position: number): number | undefined
  flips(position: number, request: number): readonly Flip[]
  attributes(position: number, request: number): readonly AttributeUse[]
  configuration(): string
  fork(yaml: string): ForkResult
  /** Both receipts of a change of the last fork, by its place. */
  forkReceipts(place: number): { readonly recorded: Receipt | undefined; readonly forked: Receipt | undefined }
  slice(from: number, to: number): Uint8Array
  sliceTest(from: number, to: number): string
  inspection(from: number, to: number): string
}

export type QuestionName = keyof Questions

export interface Ask {
  readonly id: number
  readonly name: QuestionName
  readonly given: readonly unknown[]
}

export type Answer =
  | { readonly id: number; readonly kind: 'done'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'failed'; readonly message: string }
  | { readonly id: number; readonly kind: 'progress'; readonly done: number; readonly total: number }
