import type { PluginContext, PluginType, Report, Reporter, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, list, object, ParameterError, text } from '../../../core/parameters.ts'
import type { Request, Usage } from '../../../core/request.ts'
import { parseExpression, type Expression } from './expression.ts'
import { ExpressionError } from './lexer.ts'
import { isBool } from './value.ts'

const TYPE = 'request-attribute-reporter'

const FIELDS = {
  attributes: list(object({ key: object({ namespace: text('envoy.lb'), name: text('') }), expression: text(''), condition: text('') })),
}

export interface ReportedAttribute {
  readonly namespace: string
  readonly name: string
  readonly expression: Expression
  /** Undefined always reports. */
  readonly condition: Expression | undefined
}

/** Computes a number from a response's usage, for the proxy: what a request cost, say. (llm-d: request-attribute-reporter) */
export class RequestAttributeReporter implements Reporter {
  readonly typedName: TypedName
  private readonly attribute: ReportedAttribute

  constructor(name: string, attribute: ReportedAttribute) {
    this.typedName = { type: TYPE, name }
    this.attribute = attribute
  }

  /** A whole number; undefined when the condition does not hold, the value cannot be computed, or it is 0. */
  report(_request: Request, usage: Usage | undefined): Report | undefined {
    const { namespace, name, expression, condition } = this.attribute
    const holds = condition?.(usage)
    if (condition !== undefined && !(isBool(holds) && holds.value)) return undefined
    const result = expression(usage)
    if (result === undefined || result.kind === 'bool' || !Number.isFinite(result.value)) return undefined
    const value = Math.trunc(result.value)
    return value === 0 ? undefined : { namespace, name, value }
  }
}

const attributeOf = (context: PluginContext): ReportedAttribute => {
  const { attributes } = decodeParametersOf(`failed to parse the parameters of '${TYPE}': `, context.parameters, FIELDS)
  const [attribute, ...others] = attributes
  if (attribute === undefined || others.length > 0) throw new ParameterError(`attributes must have exactly 1 entry, got ${attributes.length}`, ['attributes'])
  const { key, expression, condition } = attribute
  const path = ['attributes', '0']
  if (key.name === '') throw new ParameterError('key.name is required', [...path, 'key', 'name'])
  if (expression === '') throw new ParameterError('expression is required', [...path, 'expression'])
  return {
    namespace: key.namespace || 'envoy.lb',
    name: key.name,
    expression: parsed(expression, [...path, 'expression']),
    condition: condition === '' ? undefined : parsed(condition, [...path, 'condition']),
  }
}

const parsed = (source: string, path: readonly string[]): Expression => {
  try {
    return parseExpression(source)
  } catch (error) {
    if (error instanceof ExpressionError) throw new ParameterError(`"${source}": ${error.message}`, path)
    throw error
  }
}

export const requestAttributeReporter: PluginType = {
  type: TYPE,
  kinds: ['reporter'],
  stability: 'beta',
  create: (context) => new RequestAttributeReporter(context.name, attributeOf(context)),
}
