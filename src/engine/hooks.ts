import type { Observation, Plugin } from '../core/contract.ts'
import type { Stage } from '../core/request.ts'
import type { EngineContext } from './context.ts'

/** The stage of a profile, as the profile handler says; decode where it cannot say. */
export const stageOf = (context: EngineContext, profile: string): Stage => {
  const { handler } = context.pipeline
  return callHook(context, handler, 'ProfileHandler', () => handler.stageOf(profile), 'decode')
}

/** Calls a plugin's hook whose failure must not be the request's: an error is counted and the fallback stands. */
export const callHook = <T>(context: EngineContext, plugin: Plugin, extensionPoint: string, call: () => T, fallback: T): T => {
  try {
    return call()
  } catch {
    const { type, name } = plugin.typedName
    observe(context, { kind: 'counter', name: 'plugin_errors_total', labels: { extension_point: extensionPoint, plugin_type: type, plugin_name: name }, value: 1 })
    return fallback
  }
}

/** Passes an observation on. What becomes of it outside must not reach the plugin: a replay, where nobody listens, would differ. */
export const observe = (context: EngineContext, observation: Observation): void => {
  try {
    context.options.observe?.(observation)
  } catch {
    // A measure that nobody can take is lost; there is nothing that the engine could do about it.
  }
}
