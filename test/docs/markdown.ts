/** A fenced block of a Markdown text. */
export interface Block {
  /** Line of its opening fence, from 1. */
  readonly line: number
  readonly language: string
  /** The word after the language: the file that the block stands for; empty without one. */
  readonly name: string
  readonly text: string
}

export const blocksOf = (markdown: string): readonly Block[] => {
  const blocks: Block[] = []
  const lines = markdown.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const opened = /^```(\w+)(?: (\S+))?$/.exec(lines[i] ?? '')
    if (opened === null) continue
    const end = lines.indexOf('```', i + 1)
    if (end < 0) throw new Error(`line ${i + 1}: the block is not closed`)
    blocks.push({ line: i + 1, language: opened[1] ?? '', name: opened[2] ?? '', text: `${lines.slice(i + 1, end).join('\n')}\n` })
    i = end
  }
  return blocks
}

/** Targets of the links and pictures of a Markdown text outside of its blocks. */
export const linksOf = (markdown: string): readonly string[] =>
  [...markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)

/** Names that a heading can be linked by. */
export const anchorsOf = (markdown: string): ReadonlySet<string> =>
  new Set([...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')))
