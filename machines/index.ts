export * from './endpoint/machine.ts'
export * from './journal-link/machine.ts'
export * from './request/machine.ts'
export { compile } from './interpreter/compile.ts'
export { MachineError } from './interpreter/errors.ts'
export type { MachineErrorCode } from './interpreter/errors.ts'
export { MICROSTEPS_MAX } from './interpreter/interpreter.ts'
export type {
  Action,
  ActorRecord,
  Delay,
  Edge,
  Guard,
  Implementations,
  InternalEvent,
  Interpreter,
  Observer,
  Timer,
  Transition,
} from './interpreter/interpreter.ts'
export { createXStateInterpreter } from './interpreter/xstate-actors.ts'
export { toGraph } from './diagram/graph.ts'
export type { GraphEdge, GraphNode, MachineGraph, Trigger } from './diagram/graph.ts'
export { durationText, edgeText, toMermaid } from './diagram/mermaid.ts'
export { toXStateJson } from './diagram/xstate-json.ts'
export type { Json } from './diagram/xstate-json.ts'
