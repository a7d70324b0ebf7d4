import type { Chart, ChartState } from './chart.ts'
import { MachineError } from './errors.ts'

/** A legal set of active states. */
export interface Configuration {
  readonly index: number
  /** In document order, the machine itself first. */
  readonly active: readonly ChartState[]
  /** Path of its innermost states, joined by "|". */
  readonly path: string
  /** Whether the machine is over in it. */
  readonly isDone: boolean
}

/**
 * A table holds every configuration; regions multiply them. A machine with more is better cut into
 * several: the endpoint's four regions make 192.
 */
const CONFIGURATIONS_MAX = 4_096

/**
 * Every configuration that the chart's shape allows, reachable or not, in document order.
 * @throws MachineError `machine-too-large` above CONFIGURATIONS_MAX
 */
export function allConfigurations(chart: Chart): readonly Configuration[] {
  if (countConfigurations(chart.root) > CONFIGURATIONS_MAX) {
    const fix = 'let fewer things change apart in one machine'
    throw new MachineError('machine-too-large', chart.id, `more than ${CONFIGURATIONS_MAX} configurations: ${fix}`)
  }
  return choices(chart.root).map((active, index) => ({
    index,
    active,
    path: leavesPath(active),
    isDone: isInFinal(chart.root, new Set(active)),
  }))
}

/** The innermost states' paths, in document order, joined by "|": the name of a configuration. */
export function leavesPath(active: Iterable<ChartState>): string {
  const leaves = [...active].filter((state) => state.children.length === 0)
  return leaves
    .sort((a, b) => a.order - b.order)
    .map((state) => state.path)
    .join('|')
}

/** What is entered by entering `state` without a deeper target, itself included. */
export function initialStates(state: ChartState): ChartState[] {
  if (state.kind === 'compound' && state.initial !== null) return [state, ...initialStates(state.initial)]
  if (state.kind === 'parallel') return [state, ...state.children.flatMap(initialStates)]
  return [state]
}

/** SCXML `isInFinalState`: whether the state, active in `active`, has come to its end. */
export function isInFinal(state: ChartState, active: ReadonlySet<ChartState>): boolean {
  switch (state.kind) {
    case 'compound':
      return state.children.some((child) => child.kind === 'final' && active.has(child))
    case 'parallel':
      return state.children.every((child) => isInFinal(child, active))
    case 'final':
      return true
    case 'atomic':
      return false
  }
}

function countConfigurations(state: ChartState): number {
  if (state.children.length === 0) return 1
  const counts = state.children.map(countConfigurations)
  return state.kind === 'parallel' ? counts.reduce((a, b) => a * b, 1) : counts.reduce((a, b) => a + b, 0)
}

function choices(state: ChartState): ChartState[][] {
  if (state.children.length === 0) return [[state]]
  if (state.kind !== 'parallel') return state.children.flatMap(choices).map((below) => [state, ...below])
  let combined: ChartState[][] = [[state]]
  for (const region of state.children) {
    const own = choices(region)
    combined = combined.flatMap((left) => own.map((right) => [...left, ...right]))
  }
  return combined
}
