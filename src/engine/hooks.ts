import type { Plugin } from '../core/contract.ts'
import type { EngineContext } from './context.ts'

/** Calls a plugin's hook whose failure must not be the request's: an error is counted and the fallback stands. */
export const callHook = <T>(context: EngineContext, plugin: Plugin, extensionPoint: string, call: () => T, fallback: T): T => {
  try {
    return call()
  } catch {
    const { type, name } = plugin.typedName
    context.options.observe?.({ kind: 'counter', name: 'plugin_errors_total', labels: { extension_point: extensionPoint, plugin_type: type, plugin_name: name }, value: 1 })
    return fallback
  }
}
