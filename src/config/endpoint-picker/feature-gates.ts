import { didYouMean } from '../../core/nearest.ts'
import type { Cursor } from '../yaml/cursor.ts'

export type FeatureGates = Readonly<Record<string, boolean>>

/** The gates that are known, with what they are when nobody sets them. */
const DEFAULTS: FeatureGates = { flowControl: false, haPopulateNonLeaderDatastore: true }

const TRUE = ['1', 't', 'true']
const FALSE = ['0', 'f', 'false']

/** `name` or `name=true`, the last of several wins. (llm-d: featureGates; Go: strconv.ParseBool, lower-cased) */
export const readFeatureGates = (list: Cursor): FeatureGates => {
  const gates: Record<string, boolean> = { ...DEFAULTS }
  for (const entry of list.items()) {
    const text = entry.text()
    if (text === undefined) continue
    const [name = '', ...rest] = text.split('=')
    const value = rest.length === 0 ? 'true' : rest.join('=').trim().toLowerCase()
    if (!Object.hasOwn(DEFAULTS, name)) entry.fail(`unknown feature gate \`${name}\`${didYouMean(name, Object.keys(DEFAULTS))}`, 'config-unknown-field')
    else if (TRUE.includes(value) || FALSE.includes(value)) gates[name] = TRUE.includes(value)
    else entry.fail(`feature gate \`${name}\` must be true or false, got \`${value}\``)
  }
  return gates
}
