import type { CompletedConfiguration } from '../../core/configuration.ts'
import type { EngineOptions } from '../../engine/context.ts'
import { Engine } from '../../engine/engine.ts'
import type { StateAt } from '../../journal/state-message.ts'
import type { Decision, Receipt } from '../../wire/decision.ts'
import type { Input } from '../../wire/input.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { fromBytes } from '../../wire/runtime.ts'
import { decodeEngineState, emptyEngineState } from '../../wire/state.ts'
import { engineAt } from '../engine-at.ts'
import { ForkTally } from './tally.ts'
import type { ForkSummary } from './tally.ts'

export type { ForkSummary } from './tally.ts'

/** A decision that the other configuration makes another way. */
export interface ForkedDecision {
  readonly position: number
  readonly atUs: number
  readonly request: number
  readonly requestId: string
  readonly attempt: number
  /** Where it went, or what became of it: "decode on default/a, prefill on default/b", "rejected 503". */
  readonly recorded: string
  readonly forked: string
  readonly recordedReceipt: Receipt | undefined
  readonly forkedReceipt: Receipt | undefined
}

/** Records between two reports of progress. */
const PROGRESS_EVERY = 4096

/**
 * Decides recorded inputs again under another configuration, beside the recorded one, and tells each decision that
 * differs. Memory is that of two engines, however many records there are. Yields changed decisions, and now and then
 * the position.
 *
 * Recorded: the inputs, with their times. Assumed: that endpoints would have answered as they did, when and wherever a
 * request goes.
 * @param wantsReceipts whether the next change should bear its receipts: with many endpoints they are large
 * @throws SignalboxError where the configuration names what is not there
 */
export function* fork(options: EngineOptions, start: StateAt, records: Iterable<JournalRecord>, configuration: CompletedConfiguration, wantsReceipts: () => boolean = () => true): Generator<ForkedDecision | number, ForkSummary, undefined> {
  const text = JSON.stringify(configuration)
  const recorded = engineAt(options, start)
  const forked = forkedAt(options, start, text)
  const tally = new ForkTally(recorded, forked)
  for (const record of records) {
    const input = record.input ?? { input: undefined }
    tally.arriving(input, record.atUs)
    const was = recorded.step(input, record.atUs).record.decisions
    const is = forked.step(withConfiguration(input, text), record.atUs).record.decisions
    for (const [a, b] of pairs(was, is)) {
      const changed = outcomeText(a) !== outcomeText(b)
      tally.decided(a, b, changed)
      if (!changed) continue
      const receipts = wantsReceipts()
      yield change(record, idOf(record, recorded, forked, a ?? b), a, b, receipts ? recorded.receipts(record.position) : NONE, receipts ? forked.receipts(record.position) : NONE)
    }
    if (record.position % PROGRESS_EVERY === 0) yield record.position
  }
  return tally.summary()
}

/** The engine in a saved state, with another configuration. */
const forkedAt = (options: EngineOptions, start: StateAt, configuration: string): Engine => {
  const state = start.position === 0 ? emptyEngineState() : fromBytes(decodeEngineState, start.state)
  if (state.started !== undefined) state.started = { ...state.started, configuration }
  return Engine.restore(options, state)
}

const withConfiguration = (input: Input, configuration: string): Input =>
  input.input?.kind === 'engineStarted' ? { input: { kind: 'engineStarted', value: { ...input.input.value, configuration } } } : input

type Pair = readonly [recorded: Decision | undefined, forked: Decision | undefined]

const pairs = (recorded: readonly Decision[], forked: readonly Decision[]): Pair[] => {
  if (recorded.length === 0 && forked.length === 0) return []
  const rest = [...forked]
  const both = recorded.map((decision): Pair => {
    const at = rest.findIndex(({ request }) => request === decision.request)
    return [decision, at < 0 ? undefined : rest.splice(at, 1)[0]]
  })
  return [...both, ...rest.map((decision): Pair => [undefined, decision])]
}

/** Where a decision sends its request, in words. */
export const outcomeText = (decision: Decision | undefined): string => {
  if (decision === undefined) return 'no decision'
  if (decision.outcome !== 'routed') return `${decision.outcome} ${decision.rejection?.status ?? 0}`
  return decision.profiles.flatMap(({ stage, picks }) => (picks[0] === undefined ? [] : [`${stage} on ${picks[0].endpoint}`])).join(', ')
}

const NONE: readonly Receipt[] = []

/** The client's label of a request that was just decided. */
const idOf = ({ input }: JournalRecord, recorded: Engine, forked: Engine, decision: Decision | undefined): string => {
  const key = decision?.request ?? 0
  const arrived = input?.input?.kind === 'requestReceived' ? input.input.value.requestId : undefined
  return recorded.view.requests.get(key)?.id ?? forked.view.requests.get(key)?.id ?? arrived ?? ''
}

const change = (record: JournalRecord, requestId: string, a: Decision | undefined, b: Decision | undefined, was: readonly Receipt[], is: readonly Receipt[]): ForkedDecision => {
  const request = a?.request ?? b?.request ?? 0
  const of = (receipts: readonly Receipt[]): Receipt | undefined => receipts.find((receipt) => receipt.request === request)
  return {
    position: record.position, atUs: record.atUs, request, requestId, attempt: a?.attempt ?? b?.attempt ?? 0,
    recorded: outcomeText(a), forked: outcomeText(b), recordedReceipt: of(was), forkedReceipt: of(is),
  }
}
