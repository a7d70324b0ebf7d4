import { InvalidArgumentError } from 'commander'
import { completeTiming, DEFAULT_TIMING } from '../simulation/endpoint/timing.ts'
import type { EndpointTiming } from '../simulation/index.ts'

/** What the flag takes, for the help. */
export const TIMING_NAMES: string = Object.keys(DEFAULT_TIMING).join(', ')

/** Reads `name=value` of the timing model of simulated endpoints, on top of those given earlier. */
export function timingFlag(text: string, earlier: Partial<EndpointTiming> = {}): Partial<EndpointTiming> {
  const [name = '', value = ''] = text.split('=', 2)
  if (!(name in DEFAULT_TIMING)) throw new InvalidArgumentError(`there are ${TIMING_NAMES}`)
  const timing = { ...earlier, [name]: value.trim() === '' ? NaN : Number(value) }
  try {
    completeTiming(timing)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
  return timing
}
