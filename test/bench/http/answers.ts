/** The bench's endpoint answers by the query of the path: `?tokens=16&gap=10`; without tokens, with a small JSON body. */
export interface AskedAnswer {
  readonly tokens: number
  /** Between two tokens, in ms; 0 sends each when the one before is out. */
  readonly gapMs: number
}

export const pathFor = ({ tokens, gapMs }: AskedAnswer): string => `/v1/chat/completions?tokens=${tokens}&gap=${gapMs}`

export const askedBy = (url: string): AskedAnswer => {
  const query = new URLSearchParams(url.slice(url.indexOf('?') + 1))
  return { tokens: Number(query.get('tokens') ?? 0), gapMs: Number(query.get('gap') ?? 0) }
}

/** A chat request with a prompt of this many bytes. */
export const requestBody = (promptBytes: number, stream: boolean): string =>
  JSON.stringify({ model: 'bench', stream, max_tokens: 16, messages: [{ role: 'user', content: 'lorem ipsum '.repeat(Math.ceil(promptBytes / 12)).slice(0, promptBytes) }] })
