import type { AnyStateMachine } from 'xstate'
import type { GraphEdge, GraphNode, MachineGraph } from './graph.ts'
import { toGraph } from './graph.ts'

/** The machine as a Mermaid `stateDiagram-v2`, ending in a newline: the same machine gives the same text. */
export function toMermaid(machine: AnyStateMachine): string {
  const graph = toGraph(machine)
  return ['stateDiagram-v2', ...new Drawing(graph).lines(), ''].join('\n')
}

/** Milliseconds as a person would say them: `400 ms`, `30 s`, `10 min`. */
export function durationText(ms: number): string {
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`
  if (ms >= 1_000 && ms % 1_000 === 0) return `${ms / 1_000} s`
  return `${ms} ms`
}

/** What is written at an edge: trigger, guard and actions. */
export function edgeText(edge: GraphEdge): string {
  const rank = edge.ranks > 1 ? ` ${edge.rank}` : ''
  const otherwise = edge.ranks > 1 && edge.guard === null ? ' [else]' : ''
  const guard = edge.guard === null ? otherwise : ` [${edge.guard}]`
  const actions = edge.actions.length > 0 ? ` / ${edge.actions.join(', ')}` : ''
  return `${triggerText(edge)}${rank}${guard}${actions}`
}

function triggerText({ trigger }: GraphEdge): string {
  switch (trigger.kind) {
    case 'event':
      return trigger.type === '*' ? 'any event' : trigger.type
    case 'always':
      return 'always'
    case 'done':
      return 'done'
    case 'after': {
      if (trigger.ms === null) return `after ${trigger.delay}`
      const isNamed = trigger.delay !== `${trigger.ms}`
      return `after ${durationText(trigger.ms)}${isNamed ? ` (${trigger.delay})` : ''}`
    }
  }
}

class Drawing {
  readonly #graph: MachineGraph
  readonly #nodes: ReadonlyMap<string, GraphNode>
  readonly #edges: readonly GraphEdge[]

  constructor(graph: MachineGraph) {
    this.#graph = graph
    this.#nodes = new Map(graph.nodes.map((node) => [node.id, node]))
    this.#edges = graph.edges.flatMap((edge) => this.#fromChildren(edge))
  }

  lines(): string[] {
    const root = this.#nodes.get('')
    if (root === undefined) return []
    const isDrawnAsState = root.kind === 'parallel' || this.#remarks(root).length > 0
    return isDrawnAsState ? this.#state(root, 1) : this.#inside(root, 1)
  }

  /** The state's own lines: its name, what it does by itself, and what lies inside. */
  #state(node: GraphNode, depth: number): string[] {
    const indent = '  '.repeat(depth)
    const remarks = this.#remarks(node)
    if (node.kind === 'atomic' || node.kind === 'final') {
      const name = `${indent}state "${node.key}" as ${drawnId(node)}`
      return [name, ...remarks.map((remark) => `${indent}${drawnId(node)}: ${remark}`)]
    }
    const title = [node.key, ...remarks].join('; ')
    return [`${indent}state "${title}" as ${drawnId(node)} {`, ...this.#inside(node, depth + 1), `${indent}}`]
  }

  #inside(node: GraphNode, depth: number): string[] {
    const indent = '  '.repeat(depth)
    const children = this.#graph.nodes.filter((child) => child.parent === node.id)
    if (node.kind === 'parallel') {
      const regions = children.map((child) => this.#state(child, depth))
      return [...regions.flatMap((lines, i) => (i === 0 ? lines : [`${indent}--`, ...lines])), ...this.#arrows(node, indent)]
    }
    const initial = children.filter((child) => child.isInitial).map((child) => `${indent}[*] --> ${drawnId(child)}`)
    const finals = children.filter((child) => child.kind === 'final').map((child) => `${indent}${drawnId(child)} --> [*]`)
    return [...children.flatMap((child) => this.#state(child, depth)), ...initial, ...this.#arrows(node, indent), ...finals]
  }

  /** The arrows that belong in this state: those between states inside it that no inner one holds both of. */
  #arrows(node: GraphNode, indent: string): string[] {
    return this.#edges.flatMap((edge) =>
      edge.targets
        .filter((target) => this.#holder(edge.source, target) === node.id)
        .map((target) => `${indent}${this.#drawn(edge.source)} --> ${this.#drawn(target)}: ${edgeText(edge)}`),
    )
  }

  /** What no arrow shows: entry and exit actions, and transitions that leave the states alone. */
  #remarks(node: GraphNode): string[] {
    const stays = this.#edges.filter((edge) => edge.source === node.id && edge.targets.length === 0)
    return [
      ...(node.entry.length > 0 ? [`entry / ${node.entry.join(', ')}`] : []),
      ...(node.exit.length > 0 ? [`exit / ${node.exit.join(', ')}`] : []),
      ...stays.map(edgeText),
    ]
  }

  /**
   * Mermaid cannot draw an arrow from a state to one inside it. What the outer state does is drawn at
   * each of its children that does not say something else on the same trigger.
   */
  #fromChildren(edge: GraphEdge): GraphEdge[] {
    const isInward = edge.targets.some((target) => isInside(target, edge.source))
    if (!isInward) return [edge]
    const children = this.#graph.nodes.filter((child) => child.parent === edge.source && child.kind !== 'final')
    return children
      .filter((child) => !this.#graph.edges.some((own) => own.source === child.id && triggerText(own) === triggerText(edge)))
      .flatMap((child) => this.#fromChildren({ ...edge, source: child.id }))
  }

  #holder(source: string, target: string): string {
    let holder = this.#nodes.get(source)?.parent ?? ''
    while (!isInside(target, holder)) holder = this.#nodes.get(holder)?.parent ?? ''
    return holder
  }

  #drawn(id: string): string {
    const node = this.#nodes.get(id)
    return node === undefined ? id : drawnId(node)
  }
}

function isInside(id: string, outer: string): boolean {
  return id !== outer && (outer === '' || id.startsWith(`${outer}.`))
}

/** Unique in the whole diagram, as Mermaid demands, and a word to it. */
function drawnId(node: GraphNode): string {
  return node.id === '' ? node.key : node.id.replaceAll('.', '_')
}
