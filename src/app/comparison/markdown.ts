import { SignalboxError } from '../../core/errors.ts'
import type { PolicyFigures } from './figures.ts'

/** The lines between which a comparison stands in a Markdown document. */
const BEGIN = '<!-- comparison: begin -->'
const END = '<!-- comparison: end -->'

const HEAD = ['policy', 'first token p50', 'p90', 'between tokens p50', 'prefix hits', 'of the ceiling', 'prefill balance', 'decode balance'] as const

/** One row a policy, in the order given. Balance is the most that one endpoint did over the mean: 1 is even. */
export const rowsOf = (figures: readonly PolicyFigures[]): readonly (readonly string[])[] =>
  figures.map(({ policy, firstTokenMs, betweenTokensMs, prefix, balance }) => [
    policy, ms(firstTokenMs.p50, 0), ms(firstTokenMs.p90, 0), ms(betweenTokensMs.p50, 1), percent(prefix.hitShare), percent(prefix.ofCeiling),
    ratio(balance.computedTokens.mostOverMean), ratio(balance.generatedTokens.mostOverMean),
  ])

/** The table for people who read text, and for Markdown. */
export const headOf = (): readonly string[] => HEAD

export const markdownTable = (figures: readonly PolicyFigures[]): string =>
  [HEAD.join(' | '), HEAD.map((_, i) => (i === 0 ? '---' : '---:')).join(' | '), ...rowsOf(figures).map(([policy = '', ...cells]) => [`\`${policy}\``, ...cells].join(' | '))].map((line) => `| ${line} |`).join('\n')

/**
 * The document with the text between its two marks replaced.
 * @throws SignalboxError usage where a mark is missing or they stand the wrong way round
 */
export const replaceBetweenMarks = (document: string, text: string, file: string): string => {
  const begin = document.indexOf(BEGIN)
  const end = document.indexOf(END)
  if (begin < 0 || end < begin) throw new SignalboxError('usage', `put the lines ${BEGIN} and ${END} where the comparison is to stand`, { file })
  return `${document.slice(0, begin + BEGIN.length)}\n${text}\n${document.slice(end)}`
}

const ms = (value: number | null, digits: number): string => (value === null ? '-' : `${value.toFixed(digits)} ms`)
const percent = (share: number | null): string => (share === null ? '-' : `${(share * 100).toFixed(1)} %`)
const ratio = (value: number | null): string => (value === null ? '-' : value.toFixed(2))
