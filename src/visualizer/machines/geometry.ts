import type { DrawnEdge, DrawnState } from './drawn.ts'

type Point = readonly [x: number, y: number]

const HEAD = 7

/** The three corners of the arrow at the end of a way, as an SVG polygon's points. */
export const arrowHead = (points: readonly Point[]): string => {
  const end = points.at(-1)
  const before = points.findLast(([x, y]) => end !== undefined && (x !== end[0] || y !== end[1]))
  if (end === undefined || before === undefined) return ''
  const [dx, dy] = [end[0] - before[0], end[1] - before[1]]
  const length = Math.sqrt(dx * dx + dy * dy)
  const [ux, uy] = [dx / length, dy / length]
  const corner = (side: number): string => `${round(end[0] - ux * HEAD - uy * side)},${round(end[1] - uy * HEAD + ux * side)}`
  return `${end[0]},${end[1]} ${corner(HEAD / 2)} ${corner(-HEAD / 2)}`
}

/** Radius of the bends of a way. */
const BEND = 7

/** An SVG path along points whose bends are round; a bend between short pieces is rounded less. */
export const roundedPath = (points: readonly Point[]): string => points.map(([x, y], i) => {
  const [before, after] = [points[i - 1], points[i + 1]]
  if (before === undefined) return `M${round(x)} ${round(y)}`
  if (after === undefined) return `L${round(x)} ${round(y)}`
  const towards = ([tx, ty]: Point): string => {
    const length = Math.sqrt((tx - x) ** 2 + (ty - y) ** 2)
    const share = length === 0 ? 0 : Math.min(BEND, length / 2) / length
    return `${round(x + (tx - x) * share)} ${round(y + (ty - y) * share)}`
  }
  return `L${towards(before)}Q${round(x)} ${round(y)} ${towards(after)}`
}).join('')

const round = (value: number): number => Math.round(value * 10) / 10

/** Whether a state is active where these innermost states are. */
export const isActive = (state: string, active: readonly string[]): boolean => active.some((leaf) => leaf === state || leaf.startsWith(`${state}.`))

/** Whether a state is lit: it is active, and of an end drawn in several places it is the one last come to. */
export const isLit = (state: DrawnState, active: readonly string[], lastEdge: string | undefined): boolean =>
  isActive(state.id, active) && (state.entered.length === 0 || lastEdge === undefined || state.entered.includes(lastEdge))

/** How thick an edge is drawn that was taken so often; from 1 to 3.5, by magnitude. */
export const strokeOf = (count: number, most: number): number => (count === 0 ? 1 : 1.3 + (2.2 * Math.log2(1 + count)) / Math.log2(1 + Math.max(1, most)))

/** The guard that held an edge back: asked while the record was taken, it said no, and the edge was not taken. */
export const refusedEdge = (edge: DrawnEdge, active: readonly string[], refusedBy: readonly string[], taken: readonly string[]): string | undefined => {
  if (edge.guard === null || taken.includes(edge.id)) return undefined
  // Only where the actor is, or was a step ago.
  const near = isActive(edge.source, active) || taken.some((id) => id.startsWith(`${edge.source}:`))
  return near ? edge.guard.split(/[^A-Za-z]+/).find((word) => refusedBy.includes(word)) : undefined
}
