import type { Cursor } from '../yaml/cursor.ts'
import { parseQuantity } from '../units/quantity.ts'
import type { FeatureGates } from './feature-gates.ts'
import { readReference } from './reference.ts'
import type { Reference } from './reference.ts'

export interface FlowControl {
  readonly saturationDetector: Reference | undefined
  /** As given, without the detector; {} when there is nothing. */
  readonly flowControl: Readonly<Record<string, unknown>>
}

const FIELDS = [
  'maxBytes', 'maxRequests', 'defaultRequestTTL', 'noEndpointRequestTTL', 'defaultPriorityBand', 'defaultNegativePriorityBand', 'priorityBands',
  'usageLimitPolicyPluginRef', 'saturationDetector', 'enableEviction',
] as const

/**
 * Reads flowControl and the deprecated saturationDetector. With the gate off only the detector has an effect, and other settings
 * give a warning; the gate itself cannot be turned on.
 */
export const readFlowControl = (root: Cursor, gates: FeatureGates): FlowControl => {
  const flow = root.field('flowControl')
  const given: Record<string, unknown> = {}
  if (flow.hasOnly(FIELDS)) {
    checkFields(flow)
    for (const name of FIELDS) if (name !== 'saturationDetector' && flow.field(name).given) given[name] = flow.field(name).value
  }
  if (gates['flowControl'] === true) {
    root.field('featureGates').fail('flow control is known from llm-d but not built: turn the feature gate `flowControl` off', 'config-not-built')
  } else if (Object.keys(given).length > 0) {
    flow.warn(`flowControl has no effect but for its saturationDetector while the feature gate \`flowControl\` is off (given: ${Object.keys(given).join(', ')})`)
  }
  return { flowControl: given, saturationDetector: readDetector(root, flow) }
}

const readDetector = (root: Cursor, flow: Cursor): Reference | undefined => {
  const field = flow.field('saturationDetector')
  const own = field.hasOnly(['pluginRef']) && field.field('pluginRef').given ? readReference(field, 'flowControl.saturationDetector') : undefined
  const old = root.field('saturationDetector')
  if (!old.given) return own
  old.warn('saturationDetector is deprecated; use flowControl.saturationDetector')
  const moved = old.hasOnly(['pluginRef']) && old.field('pluginRef').given ? readReference(old, 'saturationDetector') : undefined
  return own ?? moved
}

const checkFields = (flow: Cursor): void => {
  quantity(flow.field('maxBytes'))
  quantity(flow.field('maxRequests'))
  for (const name of ['defaultRequestTTL', 'noEndpointRequestTTL']) {
    const ttl = flow.field(name)
    if ((ttl.duration() ?? 0) < 0) ttl.fail(`${ttl.name} must not be negative`)
  }
  checkBand(flow.field('defaultPriorityBand'), [])
  checkBand(flow.field('defaultNegativePriorityBand'), [])
  const seen = new Set<number>()
  for (const band of flow.field('priorityBands').items()) {
    checkBand(band, ['priority'])
    const priority = band.field('priority').whole() ?? 0
    if (seen.has(priority)) band.fail(`there are two priority bands ${String(priority)}`, 'config-duplicate')
    seen.add(priority)
  }
  flow.field('usageLimitPolicyPluginRef').text()
  flow.field('enableEviction').flag()
}

const checkBand = (band: Cursor, more: readonly string[]): void => {
  if (!band.hasOnly([...more, 'maxBytes', 'maxRequests', 'fairnessPolicyRef', 'orderingPolicyRef'])) return
  quantity(band.field('maxBytes'))
  quantity(band.field('maxRequests'))
  band.field('fairnessPolicyRef').text()
  band.field('orderingPolicyRef').text()
}

const quantity = (field: Cursor): void => {
  const value = field.read('a quantity such as 5000, 1G or 512Mi', parseQuantity)
  if (value !== undefined && value < 0) field.fail(`${field.name} must not be negative`)
}
