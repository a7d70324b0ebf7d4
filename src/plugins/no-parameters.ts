import type { PluginContext } from '../core/contract.ts'

/** For types that never read their parameters: what is given has no effect, and whoever gave it is told. (llm-d does the same) */
export const ignoreParameters = (type: string, context: PluginContext): void => {
  if (context.parameters !== undefined && context.parameters !== null) context.warn(`${type} takes no parameters: those given have no effect`)
}
