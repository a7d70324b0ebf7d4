import type { PluginGraph } from '../endpoint-picker/complete.ts'
import type { LoadedConfiguration } from '../load.ts'

/** Who produces what for whom, as a tree, and the order in which producers run. */
export const graphText = ({ completed, graph }: Pick<LoadedConfiguration, 'completed' | 'graph'>): string => {
  const producers = graph.order.filter((name) => graph.edges.some((edge) => edge.producer === name))
  const lines = ['data: who produces what for whom']
  producers.forEach((producer, index) => {
    const last = index === producers.length - 1
    lines.push(`${last ? '└─' : '├─'} ${producer}`)
    lines.push(...keysOf(graph, producer, last ? '   ' : '│  '))
  })
  lines.push(`producers run in this order: ${completed.producers.length === 0 ? 'there are none' : completed.producers.join(', ')}`)
  return [...lines, ...graph.notes.map((note) => `note: ${note}`)].join('\n')
}

const keysOf = (graph: PluginGraph, producer: string, indent: string): readonly string[] => {
  const keys = [...new Set(graph.edges.filter((edge) => edge.producer === producer).map(({ key }) => key))]
  const width = Math.max(...keys.map((key) => key.length))
  return keys.map((key, index) => {
    const consumers = graph.edges.filter((edge) => edge.producer === producer && edge.key === key).map(({ consumer }) => consumer)
    return `${indent}${index === keys.length - 1 ? '└─' : '├─'} ${key.padEnd(width)} > ${consumers.join(', ')}`
  })
}
