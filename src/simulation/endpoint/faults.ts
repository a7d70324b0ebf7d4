import { badRequest } from './api-error.ts'
import { isObject } from './generation-request.ts'

/** What goes wrong at an endpoint, until it is replaced by other faults. */
export interface Faults {
  /** All work takes this many times as long (> 0). */
  readonly slowFactor: number
  /** Requests are accepted and never answered. */
  readonly stall: boolean
  /** Requests are answered at once with this status (400 to 599). */
  readonly failStatus: number | undefined
  /** The connection is reset after this many streamed tokens. */
  readonly dropMidStreamAfterTokens: number | undefined
  /** The listening socket is closed and every connection ended. */
  readonly refuse: boolean
  /** With `refuse`: the socket listens again after this long, ms of the wall clock. */
  readonly refuseMs: number | undefined
  /** `/metrics` answers 200 with text that is no exposition. */
  readonly garbage: boolean
  /** `/metrics` is accepted and never answered. */
  readonly stallMetrics: boolean
  /** How many requests `stall`, `failStatus` and `dropMidStreamAfterTokens` still meet; undefined: all. */
  readonly count: number | undefined
}

export const NO_FAULTS: Faults = {
  slowFactor: 1,
  stall: false,
  failStatus: undefined,
  dropMidStreamAfterTokens: undefined,
  refuse: false,
  refuseMs: undefined,
  garbage: false,
  stallMetrics: false,
  count: undefined,
}

type Check = (value: unknown) => boolean

const flag: Check = (value) => typeof value === 'boolean'
const integerFrom = (least: number, most: number): Check => (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most

const CHECKS: Readonly<Record<keyof Faults, readonly [Check, string]>> = {
  slowFactor: [(value) => typeof value === 'number' && Number.isFinite(value) && value > 0, 'a number above 0'],
  stall: [flag, 'true or false'],
  failStatus: [integerFrom(400, 599), 'a status from 400 to 599'],
  dropMidStreamAfterTokens: [integerFrom(0, Number.MAX_SAFE_INTEGER), 'an integer of at least 0'],
  refuse: [flag, 'true or false'],
  refuseMs: [integerFrom(1, 3_600_000), 'an integer from 1 to 3600000'],
  garbage: [flag, 'true or false'],
  stallMetrics: [flag, 'true or false'],
  count: [integerFrom(1, Number.MAX_SAFE_INTEGER), 'an integer of at least 1'],
}

/** Reads faults from JSON; what is not given is not wrong with the endpoint. Throws an ApiError 400 naming the field. */
export function parseFaults(value: unknown): Faults {
  if (!isObject(value)) throw badRequest('faults must be a JSON object')
  const given = Object.fromEntries(Object.entries(value).filter(([, setting]) => setting !== undefined))
  for (const [name, setting] of Object.entries(given)) {
    const check = (CHECKS as Readonly<Record<string, readonly [Check, string]>>)[name]
    if (check === undefined) {
      throw badRequest(`unknown fault \`${name}\`; there are ${Object.keys(CHECKS).join(', ')}`)
    }
    if (!check[0](setting)) throw badRequest(`fault \`${name}\` must be ${check[1]}`)
  }
  return { ...NO_FAULTS, ...given }
}
