/** Whether an endpoint with these labels is meant. */
export type LabelExpression = (labels: ReadonlyMap<string, string>) => boolean

/** A selector is wrong; the message says where. */
export class LabelExpressionError extends Error {
  override readonly name = 'LabelExpressionError'
}

const TOKEN = /\s*(?:([!=<>]=?|[(),])|([^\s!=<>(),]+)|$)/y
const NAME = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const PREFIX = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const WHOLE = /^[+-]?\d+$/

/**
 * Reads a Kubernetes label selector, such as `tier in (a, b),!spare,zone!=north`. What is blank means all; all
 * requirements must hold; `!=` and `notin` hold where there is no such label, `<` and `>` compare whole numbers.
 * (Kubernetes: labels.Parse; AIBrix: the header external-filter)
 * @throws LabelExpressionError
 */
export const labelExpression = (text: string): LabelExpression => {
  const tokens = new Tokens(text)
  if (tokens.peek() === '') return () => true
  const requirements: LabelExpression[] = []
  for (;;) {
    requirements.push(requirement(tokens))
    const next = tokens.take()
    if (next === '') return (labels) => requirements.every((holds) => holds(labels))
    if (next !== ',') throw new LabelExpressionError(`found '${next}', expected: ',' or the end`)
  }
}

class Tokens {
  private readonly list: string[] = []
  private at = 0

  constructor(text: string) {
    for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length;) {
      const from = TOKEN.lastIndex
      const [, symbol, word] = TOKEN.exec(text) ?? []
      if (symbol === undefined && word === undefined) {
        if (text.slice(from).trim() !== '') throw new LabelExpressionError(`cannot read '${text.slice(from)}'`)
        break
      }
      this.list.push(symbol ?? word ?? '')
    }
  }

  /** The next token; '' at the end. */
  peek(): string {
    return this.list[this.at] ?? ''
  }

  take(): string {
    const token = this.peek()
    this.at += 1
    return token
  }
}

const requirement = (tokens: Tokens): LabelExpression => {
  if (tokens.peek() === '!') {
    tokens.take()
    const absent = keyOf(tokens.take())
    return (labels) => !labels.has(absent)
  }
  const key = keyOf(tokens.take())
  const next = tokens.peek()
  if (next === '' || next === ',') return (labels) => labels.has(key)
  return comparison(key, tokens.take(), tokens)
}

const comparison = (key: string, operator: string, tokens: Tokens): LabelExpression => {
  switch (operator) {
    case '=':
    case '==': {
      const value = exactValue(tokens)
      return (labels) => labels.get(key) === value
    }
    case '!=': {
      const value = exactValue(tokens)
      return (labels) => labels.get(key) !== value
    }
    case 'in': {
      const values = valueList(tokens)
      return (labels) => values.has(labels.get(key) ?? ABSENT)
    }
    case 'notin': {
      const values = valueList(tokens)
      return (labels) => !values.has(labels.get(key) ?? ABSENT)
    }
    case '<':
    case '>': {
      const bound = wholeValue(exactValue(tokens))
      return (labels) => {
        const value = labels.get(key)
        if (value === undefined || !WHOLE.test(value)) return false
        return operator === '<' ? BigInt(value) < bound : BigInt(value) > bound
      }
    }
    default:
      throw new LabelExpressionError(`found '${operator}', expected: =, ==, !=, in, notin, <, >`)
  }
}

/** No label has this value. */
const ABSENT = '\u0000'

const isSymbol = (token: string): boolean => /^[!=<>(),]/.test(token)

const keyOf = (token: string): string => {
  if (token === '' || isSymbol(token)) throw new LabelExpressionError(`found '${token}', expected: a label`)
  const slash = token.indexOf('/')
  if ((slash >= 0 && !PREFIX.test(token.slice(0, slash))) || !NAME.test(token.slice(slash + 1))) throw new LabelExpressionError(`'${token}' is no name of a label`)
  return token
}

/** One value; there may be none before a comma or the end: the empty one. */
const exactValue = (tokens: Tokens): string => {
  const next = tokens.peek()
  return next === '' || next === ',' ? '' : valueOf(tokens.take())
}

const valueOf = (token: string): string => {
  if (isSymbol(token) || (token !== '' && !NAME.test(token))) throw new LabelExpressionError(`'${token}' is no value of a label`)
  return token
}

const wholeValue = (value: string): bigint => {
  if (!WHOLE.test(value)) throw new LabelExpressionError(`for '<' and '>' the value must be a whole number, got '${value}'`)
  return BigInt(value)
}

const valueList = (tokens: Tokens): ReadonlySet<string> => {
  if (tokens.take() !== '(') throw new LabelExpressionError("expected '(' after in and notin")
  const values = new Set<string>()
  if (tokens.peek() === ')') throw new LabelExpressionError("for 'in' and 'notin' there must be at least one value")
  for (;;) {
    const next = tokens.peek()
    values.add(next === ',' || next === ')' ? '' : valueOf(tokens.take()))
    const separator = tokens.take()
    if (separator === ')') return values
    if (separator !== ',') throw new LabelExpressionError(`found '${separator}', expected: ',' or ')'`)
  }
}
