import type { Plugin } from './contract.ts'

export type PluginKind =
  | 'filter' | 'scorer' | 'picker' | 'producer' | 'decider' | 'profile-handler' | 'detector' | 'admitter' | 'screener'
  | 'admission-controller' | 'parser' | 'pre-request' | 'response-body' | 'reporter' | 'source' | 'extractor'
  | 'discovery' | 'flow-control'

/** How a plugin type enters the list of types. */
export interface PluginType {
  readonly type: string
  readonly kinds: readonly PluginKind[]
  readonly stability: 'alpha' | 'beta'
  readonly deprecated?: { readonly since: string; readonly removal: string; readonly replacement: string }
  /** Parameter paths (such as "deciders.prefill") whose values name other plugins: those are made first. */
  readonly references?: readonly string[]
  create(context: PluginContext): Plugin
}

export interface PluginContext {
  readonly name: string
  /** As written in the configuration; undefined when there are none. */
  readonly parameters: unknown
  /** A plugin made before this one. */
  plugin(name: string): Plugin | undefined
  /** A remark for whoever reads the start of the log. */
  warn(message: string): void
}
