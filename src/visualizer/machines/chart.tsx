import type { JSX } from 'preact'
import type { ActorLook } from '../worker/messages.ts'
import type { Drawing, DrawnEdge, DrawnState } from './drawn.ts'
import { arrowHead, isLit, refusedEdge, roundedPath, strokeOf } from './geometry.ts'

/** A machine drawn, with what one actor does lit. */
export const Chart = ({ drawing, look, zoom }: { drawing: Drawing; look: ActorLook | undefined; zoom: number }): JSX.Element => {
  const heatMax = Math.max(1, ...Object.values(look?.heat ?? {}))
  return (
    <svg
      xmlns="http://www.w3.org/2000/svg" width={drawing.width * zoom} height={drawing.height * zoom} viewBox={`0 0 ${drawing.width} ${drawing.height}`}
      role="img" aria-label={`Statechart ${drawing.id}${look === undefined || look.active.length === 0 ? '' : `, active: ${look.active.join(', ')}`}`}
    >
      {drawing.states.map((state, i) => <State key={i} state={state} drawing={drawing} active={isLit(state, look?.active ?? [], look?.steps[0]?.edge)} />)}
      {drawing.edges.map((edge) => <Edge key={edge.id} edge={edge} look={look} heatMax={heatMax} />)}
    </svg>
  )
}

const State = ({ state, drawing, active }: { state: DrawnState; drawing: Drawing; active: boolean }): JSX.Element => {
  const leaf = !drawing.states.some(({ parent }) => parent === state.id)
  const names = ['state', leaf ? 'leaf' : 'around', state.kind === 'final' ? 'final' : '', active ? 'active' : ''].join(' ')
  return (
    <g class={names} data-state={state.id}>
      <rect x={state.x} y={state.y} width={state.width} height={state.height} rx={leaf ? 8 : 10} stroke-dasharray={state.kind === 'parallel' ? '6 4' : undefined} />
      {leaf
        ? <text x={state.x + state.width / 2} y={state.y + state.height / 2 + 4} text-anchor="middle">{state.key}</text>
        : <text x={state.x + 12} y={state.y + 20} style={{ fontWeight: 600 }}>{state.key}</text>}
      {state.isInitial ? <circle cx={state.x + 9} cy={state.y + 9} r={3.5} class="initial" /> : null}
      <title>{[state.id, state.description ?? '', state.entry.length === 0 ? '' : `entry: ${state.entry.join(', ')}`].filter((line) => line !== '').join('\n')}</title>
    </g>
  )
}

const Edge = ({ edge, look, heatMax }: { edge: DrawnEdge; look: ActorLook | undefined; heatMax: number }): JSX.Element => {
  const count = look?.heat[edge.id] ?? 0
  const refused = refusedEdge(edge, look?.active ?? [], look?.refusedBy ?? [], look?.taken ?? [])
  const names = ['edge', look?.taken.includes(edge.id) === true ? 'taken' : refused === undefined ? '' : 'refused'].join(' ')
  return (
    <g class={names} data-edge={edge.id}>
      <path d={roundedPath(edge.points)} stroke-width={strokeOf(count, heatMax)} />
      <polygon points={arrowHead(edge.points)} />
      <text x={edge.labelX} y={edge.labelY + 12}>{edge.label}</text>
      <title>{[edge.id, edge.actions.length === 0 ? '' : `actions: ${edge.actions.join(', ')}`, `taken ${count} times`, refused === undefined ? '' : `guard ${refused} said no`].filter((line) => line !== '').join('\n')}</title>
    </g>
  )
}
