// Places the states and transitions of a machine, for the page.
import { createRequire } from 'node:module'
import type { ElkExtendedEdge, ElkNode } from 'elkjs'
import { durationText } from '../machines/diagram/mermaid.ts'
import type { GraphEdge, MachineGraph } from '../machines/diagram/graph.ts'
import type { Drawing, DrawnEdge, DrawnState } from '../src/visualizer/machines/drawn.ts'

type Elk = new () => { layout(graph: ElkNode): Promise<ElkNode> }

const CHARACTER = 6.6
const LINE = 16
const ROOT = 'machine'

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.layered.spacing.nodeNodeBetweenLayers': '34',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.edgeNode': '16',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.randomSeed': '1',
}

/** Lays a machine out: the same machine gives the same drawing. */
export const drawing = async (graph: MachineGraph): Promise<Drawing> => {
  const ELK = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as Elk
  const laid = await new ELK().layout(elkGraph(graph))
  const states: DrawnState[] = []
  const edges: DrawnEdge[] = []
  collect(laid, graph, states, edges)
  return { id: graph.id, width: laid.width ?? 0, height: laid.height ?? 0, states, edges }
}

const idOf = (path: string): string => (path === '' ? ROOT : path)
const width = (text: string): number => Math.ceil(text.length * CHARACTER)

/**
 * An end that is reached from several states is drawn beside each of them: lines from everywhere to one place would hide
 * the ways between.
 */
const copiedEnds = (graph: MachineGraph): ReadonlySet<string> => {
  const ends = graph.nodes.filter(({ kind, parent }) => kind === 'final' && parent === '').map(({ id }) => id)
  return new Set(ends.filter((end) => new Set(graph.edges.filter(({ targets }) => targets.includes(end)).map(({ source }) => source)).size > 1))
}

const copyOf = (end: string, source: string): string => `${end}@${source}`

const elkGraph = (graph: MachineGraph): ElkNode => {
  const ends = copiedEnds(graph)
  const nodes = new Map<string, ElkNode>()
  for (const { id, key, kind } of graph.nodes) {
    if (ends.has(id)) continue
    const inner = graph.nodes.some(({ parent }) => parent === id)
    const parallel = kind === 'parallel'
    nodes.set(id, {
      id: idOf(id),
      children: [],
      edges: [],
      layoutOptions: inner ? { 'elk.padding': '[top=34,left=16,bottom=16,right=16]', ...(parallel ? { 'elk.direction': 'RIGHT' } : {}) } : {},
      ...(inner ? {} : { width: Math.max(84, width(key) + 34), height: 38 }),
    })
  }
  for (const { id, parent } of graph.nodes) if (parent !== null && !ends.has(id)) nodes.get(parent)?.children?.push(nodes.get(id) as ElkNode)
  const root = nodes.get('') as ElkNode
  for (const { source, targets } of graph.edges) {
    for (const end of targets.filter((target) => ends.has(target))) {
      const id = copyOf(end, source)
      if (root.children?.some((child) => child.id === id) === true) continue
      root.children?.push({ id, width: width(end) + 22, height: 26 })
    }
  }
  root.layoutOptions = { ...OPTIONS, 'elk.padding': '[top=16,left=16,bottom=16,right=16]' }
  root.edges = graph.edges.flatMap((edge) => elkEdge(edge, ends))
  return root
}

const elkEdge = (edge: GraphEdge, ends: ReadonlySet<string>): ElkExtendedEdge[] => {
  const text = labelOf(edge)
  const targets = (edge.targets.length === 0 ? [edge.source] : edge.targets).map((target) => (ends.has(target) ? copyOf(target, edge.source) : target))
  return [{ id: edge.id, sources: [idOf(edge.source)], targets: targets.map(idOf), labels: text.map((line, i) => ({ id: `${edge.id}#${i}`, text: line, width: width(line), height: LINE })) }]
}

/** What makes it happen, and under which condition. */
export const labelOf = (edge: GraphEdge): string[] => {
  const { trigger, guard, rank, ranks } = edge
  const when = trigger.kind === 'event' ? trigger.type
    : trigger.kind === 'after' ? `after ${trigger.ms === null ? trigger.delay : durationText(trigger.ms)}`
      : trigger.kind === 'done' ? 'done' : 'always'
  const order = ranks > 1 ? `${rank}. ` : ''
  return guard === null ? [`${order}${when}`] : [`${order}${when} [${guard}]`]
}

const collect = (node: ElkNode, graph: MachineGraph, states: DrawnState[], edges: DrawnEdge[]): void => {
  const [path = '', copiedFor] = node.id === ROOT ? [''] : node.id.split('@')
  const state = graph.nodes.find(({ id }) => id === path)
  if (state !== undefined && path !== '') {
    states.push({
      id: path, key: state.key, kind: state.kind, parent: state.parent, isInitial: state.isInitial, description: state.description,
      entry: state.entry, entered: copiedFor === undefined ? [] : graph.edges.filter(({ source, targets }) => source === copiedFor && targets.includes(path)).map(({ id }) => id), x: node.x ?? 0, y: node.y ?? 0, width: node.width ?? 0, height: node.height ?? 0,
    })
  }
  for (const edge of node.edges ?? []) {
    const stated = graph.edges.find(({ id }) => id === edge.id)
    if (stated === undefined) continue
    const points = (edge.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint])
    const label = edge.labels?.[0]
    edges.push({
      id: edge.id, source: stated.source, targets: stated.targets, guard: stated.guard, actions: stated.actions,
      kind: stated.trigger.kind, event: stated.trigger.kind === 'event' ? stated.trigger.type : stated.trigger.kind === 'after' ? stated.trigger.delay : '',
      label: label?.text ?? '', labelX: label?.x ?? 0, labelY: label?.y ?? 0, labelWidth: label?.width ?? 0,
      points: points.map(({ x, y }) => [round(x), round(y)] as const),
    })
  }
  for (const child of node.children ?? []) collect(child, graph, states, edges)
}

const round = (value: number): number => Math.round(value * 10) / 10
