import type { Lane, Timeline } from '../../replay/timeline/timeline.ts'
import type { JournalInfo, LaneData, Story } from './messages.ts'

/** A copy of all that is drawn. */
export const storyOf = ({ bars, lanes, records, requests }: Timeline, info: JournalInfo): Story => ({
  info,
  lanes: lanes.map(laneData),
  bars: {
    lane: bars.lane.view(), stage: bars.stage.view(), request: bars.request.view(), attempt: bars.attempt.view(), from: bars.from.view(),
    sent: bars.sent.view(), firstByte: bars.firstByte.view(), to: bars.to.view(), outcome: bars.outcome.view(),
  },
  requests: {
    key: requests.key.view(), receivedAt: requests.receivedAt.view(), decidedAt: requests.decidedAt.view(), sentAt: requests.sentAt.view(),
    firstByteAt: requests.firstByteAt.view(), endedAt: requests.endedAt.view(), outcome: requests.outcome.view(), model: requests.model.view(),
    decisionType: requests.decisionType.view(), lane: requests.lane.view(), attempts: requests.attempts.view(),
    promptTokens: requests.promptTokens.view(), outputTokens: requests.outputTokens.view(),
    ids: requests.ids, models: requests.models.list, decisionTypes: requests.decisionTypes.list,
  },
  records: { first: records.first, atUs: records.atUs.view(), kind: records.kind.view(), request: records.request.view(), marks: records.marks.view(), kinds: records.kinds.list },
})

const laneData = (lane: Lane): LaneData => ({
  id: lane.id, role: lane.role, spells: lane.spells,
  reportedAt: lane.reportedAt.view(), waiting: lane.waiting.view(), running: lane.running.view(), kvCache: lane.kvCache.view(),
  loadAt: lane.loadAt.view(), requests: lane.requests.view(), tokens: lane.tokens.view(),
})
