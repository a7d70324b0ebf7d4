import type { Decider, PluginContext } from '../../core/contract.ts'
import { ParameterError } from '../../core/parameters.ts'
import { isDecider } from '../../core/roles.ts'

/** What a reference to a decider says when it cannot be followed. */
export interface ReferenceTexts {
  readonly notFound: string
  readonly notDecider: string
  readonly path: readonly string[]
}

/** The decider of this name among the plugins made before. Throws a ParameterError when it is not there or decides nothing. */
export const deciderNamed = (context: PluginContext, name: string, texts: ReferenceTexts): Decider => {
  const plugin = context.plugin(name)
  if (plugin === undefined) throw new ParameterError(texts.notFound, texts.path)
  if (!isDecider(plugin)) throw new ParameterError(texts.notDecider, texts.path)
  return plugin
}
