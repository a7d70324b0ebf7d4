import type { Input, TelemetryTick } from '../../wire/input.ts'

type Content = NonNullable<Input['input']>

/** The request that a report is about, by the position of its arrival; 0 for other inputs. */
export const requestTold = (content: Content): number => {
  switch (content.kind) {
    case 'attributesReported':
    case 'requestSent':
    case 'responseStarted':
    case 'requestProgressed':
    case 'responseEnded':
    case 'requestAttemptFailed':
    case 'requestAborted':
      return content.value.request
    default:
      return 0
  }
}

/** The slots of which a tick brings something new, ascending. */
export const endpointsTold = (tick: TelemetryTick): readonly number[] => {
  const slots = new Set<number>()
  for (const { slotDeltas } of tick.columns) {
    let slot = 0
    for (const delta of slotDeltas) {
      slot += delta
      slots.add(slot)
    }
  }
  return [...slots].sort((a, b) => a - b)
}
