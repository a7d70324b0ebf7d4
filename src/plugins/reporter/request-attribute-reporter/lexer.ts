/** A piece of an expression; `at` is its place in the text, from 0. */
export interface Token {
  readonly kind: 'int' | 'double' | 'name' | 'sign' | 'end'
  readonly text: string
  readonly at: number
}

/** An expression that cannot be read; the message names the place. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'

  constructor(message: string, at: number) {
    super(`${message} (at character ${at + 1})`)
  }
}

const PIECE = /\s*(?:(\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(\d+)|([A-Za-z_][A-Za-z0-9_]*)|(&&|\|\||[<>=!]=|[-+*/%<>!?:().,]))/y

export const tokensOf = (text: string): readonly Token[] => {
  const tokens: Token[] = []
  let at = 0
  while (text.slice(at).trim() !== '') {
    PIECE.lastIndex = at
    const match = PIECE.exec(text)
    if (match === null) throw new ExpressionError(`"${text.slice(at).trim().charAt(0)}" is not understood`, at)
    const [whole, double, int, name, sign] = match
    const piece = double ?? int ?? name ?? sign ?? ''
    const kind = double !== undefined ? 'double' : int !== undefined ? 'int' : name !== undefined ? 'name' : 'sign'
    tokens.push({ kind, text: piece, at: at + whole.length - piece.length })
    at += whole.length
  }
  tokens.push({ kind: 'end', text: 'the end', at })
  return tokens
}
