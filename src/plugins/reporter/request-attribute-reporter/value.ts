import type { Usage } from '../../../core/request.ts'

export type Value =
  | { readonly kind: 'int'; readonly value: number }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'bool'; readonly value: boolean }

type Numeric = Exclude<Value, { readonly kind: 'bool' }>

/** What an expression may read, under the names of the OpenAI API. */
export const USAGE_FIELDS: ReadonlyMap<string, (usage: Usage) => number> = new Map([
  ['prompt_tokens', (usage: Usage) => usage.promptTokens],
  ['completion_tokens', (usage: Usage) => usage.completionTokens],
  ['total_tokens', (usage: Usage) => usage.totalTokens],
  ['prompt_tokens_details.cached_tokens', (usage: Usage) => usage.cachedTokens],
  ['completion_tokens_details.reasoning_tokens', (usage: Usage) => usage.reasoningTokens],
])

export const isBool = (value: Value | undefined): value is Extract<Value, { readonly kind: 'bool' }> => value?.kind === 'bool'

/** Undefined where the value has no whole number, as CEL's overflow. */
export const toInt = (value: Value | undefined): Value | undefined => (value === undefined || value.kind === 'bool' ? undefined : int(Math.trunc(value.value)))

export const toDouble = (value: Value | undefined): Value | undefined => (value === undefined || value.kind === 'bool' ? undefined : { kind: 'double', value: value.value })

export const negate = (operator: '!' | '-' | string, value: Value | undefined): Value | undefined => {
  if (value === undefined) return undefined
  if (operator === '!') return value.kind === 'bool' ? { kind: 'bool', value: !value.value } : undefined
  return value.kind === 'bool' ? undefined : { kind: value.kind, value: -value.value }
}

/** Arithmetic and comparison; undefined for kinds that do not go together, division by 0 and what is too large. */
export const binary = (operator: string, left: Value | undefined, right: Value | undefined): Value | undefined => {
  if (left === undefined || right === undefined) return undefined
  if (operator === '==' || operator === '!=') return equal(left, right, operator === '==')
  if (left.kind === 'bool' || right.kind === 'bool') return undefined
  return compare(operator, left.value, right.value) ?? arithmetic(operator, left, right)
}

const equal = (left: Value, right: Value, wanted: boolean): Value | undefined =>
  (left.kind === 'bool') === (right.kind === 'bool') ? { kind: 'bool', value: (left.value === right.value) === wanted } : undefined

const compare = (operator: string, left: number, right: number): Value | undefined => {
  switch (operator) {
    case '<':
      return { kind: 'bool', value: left < right }
    case '<=':
      return { kind: 'bool', value: left <= right }
    case '>':
      return { kind: 'bool', value: left > right }
    case '>=':
      return { kind: 'bool', value: left >= right }
    default:
      return undefined
  }
}

const arithmetic = (operator: string, left: Numeric, right: Numeric): Value | undefined => {
  if (left.kind !== right.kind) return undefined
  const whole = left.kind === 'int'
  if (whole && right.value === 0 && (operator === '/' || operator === '%')) return undefined
  const result = compute(operator, left.value, right.value, whole)
  if (result === undefined) return undefined
  return whole ? int(result) : { kind: 'double', value: result }
}

const compute = (operator: string, left: number, right: number, whole: boolean): number | undefined => {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return whole ? Math.trunc(left / right) : left / right
    default:
      return whole ? left % right : undefined
  }
}

/** -0 is no whole number. */
const int = (value: number): Value | undefined => (Number.isSafeInteger(value) ? { kind: 'int', value: value + 0 } : undefined)
