import type { Lane, Timeline } from '../../replay/timeline/timeline.ts'
import type { JournalInfo, LaneData, Story } from './messages.ts'

/** A copy of all that is drawn. */
export const storyOf = ({ bars, lanes, records, requests }: Timeline, info: JournalInfo): Story => ({
  info,
  lanes: lanes.map(laneData),
  bars: {
    lane: bars.lane.copy(), stage: bars.stage.copy(), request: bars.request.copy(), attempt: bars.attempt.copy(), from: bars.from.copy(),
    sent: bars.sent.copy(), firstByte: bars.firstByte.copy(), to: bars.to.copy(), outcome: bars.outcome.copy(),
  },
  requests: {
    key: requests.key.copy(), receivedAt: requests.receivedAt.copy(), decidedAt: requests.decidedAt.copy(), sentAt: requests.sentAt.copy(),
    firstByteAt: requests.firstByteAt.copy(), endedAt: requests.endedAt.copy(), outcome: requests.outcome.copy(), model: requests.model.copy(),
    decisionType: requests.decisionType.copy(), lane: requests.lane.copy(), attempts: requests.attempts.copy(),
    promptTokens: requests.promptTokens.copy(), outputTokens: requests.outputTokens.copy(),
    ids: requests.ids, models: requests.models.list, decisionTypes: requests.decisionTypes.list,
  },
  records: { first: records.first, atUs: records.atUs.copy(), kind: records.kind.copy(), request: records.request.copy(), marks: records.marks.copy(), kinds: records.kinds.list },
})

const laneData = (lane: Lane): LaneData => ({
  id: lane.id, role: lane.role, spells: lane.spells,
  reportedAt: lane.reportedAt.copy(), waiting: lane.waiting.copy(), running: lane.running.copy(), kvCache: lane.kvCache.copy(),
  loadAt: lane.loadAt.copy(), requests: lane.requests.copy(), tokens: lane.tokens.copy(),
})

/** The buffers of a story's columns: they are given away, not copied once more. */
export const buffersOf = ({ lanes, bars, requests, records }: Story): ArrayBuffer[] =>
  [...lanes, bars, requests, records].flatMap((columns) => Object.values(columns).flatMap((column: unknown) => (column instanceof Float64Array ? [column.buffer as ArrayBuffer] : [])))
