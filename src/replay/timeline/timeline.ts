import { Growing, Names } from './growing.ts'

/** What became of a request, by number. */
export const OUTCOMES = ['open', 'completed', 'rejected', 'failed', 'aborted', 'expired'] as const

/** Stages of a bar, by number. */
export const STAGES = ['decode', 'encode', 'prefill'] as const

/** What a record is remarkable for; several may hold. */
export const MARKS = { routed: 1, rejected: 2, expired: 4, diverged: 8, retried: 16 } as const

/** The label that says what an endpoint is for. */
export const ROLE_LABEL = 'llm-d.ai/role'

/** Every record, in order; positions are dense, so the place tells the position. */
class RecordColumns {
  first = 1
  readonly atUs = new Growing()
  readonly kind = new Growing()
  /** Arrival position of the request it is about; 0 for none. */
  readonly request = new Growing()
  readonly marks = new Growing()
  readonly kinds = new Names()
}

/** One request's share of an endpoint, in one attempt; times in microseconds since the epoch, NaN while not known. */
class BarColumns {
  readonly lane = new Growing()
  readonly stage = new Growing()
  readonly request = new Growing()
  readonly attempt = new Growing()
  readonly from = new Growing()
  readonly sent = new Growing()
  readonly firstByte = new Growing()
  readonly to = new Growing()
  readonly outcome = new Growing()
}

/** Requests in order of arrival. */
class RequestColumns {
  readonly key = new Growing()
  readonly receivedAt = new Growing()
  readonly decidedAt = new Growing()
  readonly sentAt = new Growing()
  readonly firstByteAt = new Growing()
  readonly endedAt = new Growing()
  readonly outcome = new Growing()
  readonly model = new Growing()
  readonly decisionType = new Growing()
  /** Lane of the primary profile's pick; -1 for none. */
  readonly lane = new Growing()
  readonly attempts = new Growing()
  readonly promptTokens = new Growing()
  readonly outputTokens = new Growing()
  readonly ids: string[] = []
  readonly models = new Names()
  readonly decisionTypes = new Names()
}

/** A stretch of an endpoint's time in which something held; `to` is NaN while it lasts. */
export interface Spell {
  readonly kind: 'alive' | 'draining' | 'stale' | 'unreachable'
  readonly from: number
  to: number
  /** Of an `alive` spell: the incarnation. */
  readonly incarnation: string
}

/** What is known of an endpoint id over time: one lane. */
export class Lane {
  readonly id: string
  role: string
  readonly spells: Spell[] = []
  /** Lives of the endpoint, as the log of transitions names it. */
  readonly lives = new Set<number>()
  /** Reported of itself, when any of it changed. */
  readonly reportedAt = new Growing()
  readonly waiting = new Growing()
  readonly running = new Growing()
  readonly kvCache = new Growing()
  /** Assigned to it, when it changed. */
  readonly loadAt = new Growing()
  readonly requests = new Growing()
  readonly tokens = new Growing()

  constructor(id: string, role: string) {
    this.id = id
    this.role = role
  }
}

/** Steps of the machines. */
class TransitionColumns {
  readonly position = new Growing()
  /** 0 request, 1 endpoint. */
  readonly machine = new Growing()
  /** Key of the request, or life of the endpoint. */
  readonly actor = new Growing()
  readonly edge = new Growing()
  readonly from = new Growing()
  readonly to = new Growing()
  readonly edges = new Names()
  readonly states = new Names()
}

/** A journal's story as columns. */
export class Timeline {
  readonly records = new RecordColumns()
  readonly bars = new BarColumns()
  readonly requests = new RequestColumns()
  readonly lanes: Lane[] = []
  readonly transitions = new TransitionColumns()
  private readonly laneById = new Map<string, number>()

  /** Positions `first` to `last` were lost: each has its place, and nothing is known of it. */
  missing(first: number, last: number, atUs: number): void {
    const { records } = this
    for (let position = first; position <= last; position += 1) {
      records.atUs.push(atUs)
      records.kind.push(records.kinds.of('missing'))
      records.request.push(0)
      records.marks.push(0)
    }
  }

  /** Number of the endpoint's lane; a new one when it was not seen before. */
  lane(id: string, role: string = ''): number {
    let lane = this.laneById.get(id)
    if (lane === undefined) {
      lane = this.lanes.length
      this.laneById.set(id, lane)
      this.lanes.push(new Lane(id, role))
    } else if (role !== '') (this.lanes[lane] as Lane).role = role
    return lane
  }
}
