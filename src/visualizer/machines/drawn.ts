import type { StateKind } from '../../../machines/interpreter/chart.ts'

/** A state with its place, in pixels of the drawing. */
export interface DrawnState {
  readonly id: string
  readonly key: string
  readonly kind: StateKind
  readonly parent: string | null
  readonly isInitial: boolean
  readonly description: string | null
  readonly entry: readonly string[]
  /** Of an end that is drawn in several places: the transitions that lead to this one. */
  readonly entered: readonly string[]
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A transition with its way. */
export interface DrawnEdge {
  readonly id: string
  readonly source: string
  readonly targets: readonly string[]
  readonly guard: string | null
  readonly actions: readonly string[]
  readonly kind: 'event' | 'always' | 'after' | 'done'
  /** Type of the event, or name of the delay. */
  readonly event: string
  readonly label: string
  readonly labelX: number
  readonly labelY: number
  readonly labelWidth: number
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** A machine laid out. */
export interface Drawing {
  readonly id: string
  readonly width: number
  readonly height: number
  readonly states: readonly DrawnState[]
  readonly edges: readonly DrawnEdge[]
}
