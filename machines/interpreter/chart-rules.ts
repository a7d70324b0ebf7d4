import type { Chart, ChartState } from './chart.ts'
import { isBelow, statesAbove } from './chart.ts'
import { initialStates } from './configurations.ts'
import { MachineError } from './errors.ts'

/**
 * Refuses an initial configuration that does more than wait. XState defers the actions of its start until
 * after all the guards there, so that what they change would be seen later than anywhere else.
 */
export function refuseUnsettledStart(chart: Chart): void {
  for (const state of initialStates(chart.root)) {
    if (state.entry.length > 0) refuse(chart, state, 'entry actions of an initial state')
    if (state.always.length > 0) refuse(chart, state, '`always` of an initial state')
    if (state.kind === 'final') refuse(chart, state, 'an initial state that is final')
  }
}

/**
 * Refuses a transition from inside to the machine itself that does not reenter it: XState runs the entry
 * of the machine then without its exit, and a timer of it would pend twice.
 */
export function refuseHalfRestart(chart: Chart): void {
  for (const { source, targets, reenter } of chart.states.flatMap((s) => [...s.always, ...[...s.on.values()].flat()])) {
    if (!reenter && source !== chart.root && targets.includes(chart.root)) {
      refuse(chart, source, 'a transition to the machine itself without `reenter: true`')
    }
  }
}

/**
 * Refuses `always` in places that can be active together without lying on one line of descent. XState
 * looks at them in the order in which their states happened to be entered, which no saved state tells.
 */
export function refuseUnorderedAlways(chart: Chart): void {
  const holders = chart.states.filter((state) => state.always.length > 0)
  for (const parallel of chart.states) {
    if (parallel.kind !== 'parallel') continue
    const regions = parallel.children.filter((region) => holders.some((s) => s === region || isBelow(s, region)))
    const above = [parallel, ...statesAbove(parallel, null)].some((s) => s.always.length > 0)
    if (regions.length > 1) refuse(chart, parallel, '`always` in more than one region')
    if (regions.length > 0 && above) refuse(chart, parallel, '`always` both in a region and in or above the parallel state')
  }
}

function refuse(chart: Chart, state: ChartState, feature: string): never {
  const where = state.path === '' ? 'the machine itself' : `state \`${state.path}\``
  throw new MachineError('machine-not-covered', chart.id, `${where}: not covered: ${feature}`)
}
