import type { Usage } from '../../../core/request.ts'
import { ExpressionError, tokensOf, type Token } from './lexer.ts'
import { binary, isBool, negate, toDouble, toInt, USAGE_FIELDS, type Value } from './value.ts'

/** Gives the value for a usage, or undefined where there is none: a field of a usage that never came, a division by 0. */
export type Expression = (usage: Usage | undefined) => Value | undefined

// CEL's own precedence; operators of one level group to the left.
const LEVELS: readonly (readonly string[])[] = [['||'], ['&&'], ['<', '<=', '>', '>=', '==', '!='], ['+', '-'], ['*', '/', '%']]

/**
 * Reads an expression over `usage`: a part of CEL. Whole and fractional numbers, true, false, usage.field, has(usage.field),
 * int(), double(), the operators of arithmetic, comparison and logic, ?: and parentheses. Whole numbers and fractions do
 * not mix, as in CEL. Throws an ExpressionError on anything else.
 */
export const parseExpression = (text: string): Expression => {
  const parser = new Parser(tokensOf(text))
  const expression = parser.conditional()
  parser.expect('the end')
  return expression
}

class Parser {
  private readonly tokens: readonly Token[]
  private next = 0

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens
  }

  conditional(): Expression {
    const test = this.level(0)
    if (!this.takes('?')) return test
    const yes = this.conditional()
    this.expect(':')
    const no = this.conditional()
    return (usage) => {
      const value = test(usage)
      return isBool(value) ? (value.value ? yes(usage) : no(usage)) : undefined
    }
  }

  expect(text: string): void {
    const token = this.peek()
    if (token.text !== text) throw new ExpressionError(`expected ${text === 'the end' ? text : `"${text}"`}, found ${token.kind === 'end' ? token.text : `"${token.text}"`}`, token.at)
    this.next += 1
  }

  private level(depth: number): Expression {
    const operators = LEVELS[depth]
    if (operators === undefined) return this.unary()
    let left = this.level(depth + 1)
    for (let operator = this.takesOne(operators); operator !== undefined; operator = this.takesOne(operators)) {
      left = join(operator, left, this.level(depth + 1))
    }
    return left
  }

  private unary(): Expression {
    const operator = this.takesOne(['!', '-'])
    if (operator === undefined) return this.primary()
    const inner = this.unary()
    return (usage) => negate(operator, inner(usage))
  }

  private primary(): Expression {
    const token = this.take()
    if (token.kind === 'int' || token.kind === 'double') return literal(token)
    if (token.text === '(') {
      const inner = this.conditional()
      this.expect(')')
      return inner
    }
    if (token.text === 'true' || token.text === 'false') return () => ({ kind: 'bool', value: token.text === 'true' })
    if (token.text === 'usage') return this.field()
    if (token.text === 'has' || token.text === 'int' || token.text === 'double') return this.call(token.text)
    throw new ExpressionError(token.kind === 'name' ? `unknown name "${token.text}"; usage, has, int and double are known` : `unexpected "${token.text}"`, token.at)
  }

  private call(name: 'has' | 'int' | 'double'): Expression {
    this.expect('(')
    if (name === 'has') {
      this.expect('usage')
      const field = this.field()
      this.expect(')')
      return (usage) => ({ kind: 'bool', value: field(usage) !== undefined })
    }
    const inner = this.conditional()
    this.expect(')')
    return (usage) => (name === 'int' ? toInt(inner(usage)) : toDouble(inner(usage)))
  }

  /** `.name`, and `.name.name` for details. */
  private field(): Expression {
    const start = this.peek().at
    const names: string[] = []
    while (this.takes('.')) names.push(this.take().text)
    const read = USAGE_FIELDS.get(names.join('.'))
    if (read === undefined) throw new ExpressionError(`unknown field usage.${names.join('.')}; known are ${[...USAGE_FIELDS.keys()].join(', ')}`, start)
    return (usage) => (usage === undefined ? undefined : { kind: 'int', value: read(usage) })
  }

  private peek(): Token {
    return this.tokens[this.next] as Token
  }

  private take(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.next += 1
    return token
  }

  private takes(text: string): boolean {
    return this.takesOne([text]) !== undefined
  }

  private takesOne(texts: readonly string[]): string | undefined {
    const token = this.peek()
    if (token.kind !== 'sign' || !texts.includes(token.text)) return undefined
    this.next += 1
    return token.text
  }
}

const literal = ({ kind, text, at }: Token): Expression => {
  const value = Number(text)
  if (kind === 'int' && !Number.isSafeInteger(value)) throw new ExpressionError(`${text} is too large`, at)
  return () => ({ kind: kind === 'int' ? 'int' : 'double', value })
}

/** Logic needs only the side that decides. */
const join = (operator: string, left: Expression, right: Expression): Expression => {
  if (operator !== '&&' && operator !== '||') return (usage) => binary(operator, left(usage), right(usage))
  const decides = operator === '||'
  return (usage) => {
    const first = left(usage)
    if (isBool(first) && first.value === decides) return first
    const second = right(usage)
    if (isBool(second) && second.value === decides) return second
    return isBool(first) && isBool(second) ? second : undefined
  }
}
