import { kindOf } from '../app/journal-files.ts'
import { clamp, sentence } from '../replay/index.ts'
import type { Explanation, ProfileReceipt, Receipt } from '../replay/index.ts'
import { table } from './table.ts'

/** Candidates shown of a profile unless all are asked for. */
const SHOWN_MAX = 20

/** An explanation for people. */
export const explanationText = (explanation: Explanation, all: boolean): string => {
  const { requestId, request, records, receipts } = explanation
  const parts = [`request ${requestId} (position ${request})`]
  for (const receipt of receipts) parts.push(receiptText(receipt, all))
  parts.push('\nwhat happened', table([], records.map((record) => [`  ${record.position}`, time(record.atUs), kindOf(record), detail(record.input?.input)])))
  return `${parts.join('\n')}\n`
}

const receiptText = (receipt: Receipt, all: boolean): string => {
  const lines = [`\nattempt ${receipt.attempt} at ${time(receipt.atUs)} (position ${receipt.position})`, `  ${sentence(receipt).replaceAll('; ', ';\n  ')}`]
  if (receipt.excluded.length > 0) lines.push(`  tried before: ${receipt.excluded.join(', ')}`)
  for (const note of receipt.notes) lines.push(`  note: ${note}`)
  for (const { plugin, runs, reason } of receipt.deciders) lines.push(`  ${plugin}: ${runs ? 'yes' : 'no'}${reason === '' ? '' : `, ${reason}`}`)
  if (receipt.pairs.length > 0) lines.push(pairsText(receipt, all))
  for (const profile of receipt.profiles) lines.push(profileText(profile, all))
  return lines.join('\n')
}

/** The groups that were weighed against each other, the best first. */
const pairsText = ({ pairs }: Receipt, all: boolean): string => {
  const order = [...pairs].sort((a, b) => a.finalScore - b.finalScore)
  const shown = all ? order : order.slice(0, SHOWN_MAX)
  const rows = shown.map((pair) => [pair.chosen ? '>' : '', pair.group, pair.prefill, score(pair.prefillScore), pair.decode, score(pair.decodeScore), score(pair.finalScore)])
  const more = order.length > shown.length ? `\n    and ${order.length - shown.length} more (--all shows them)` : ''
  return `\n  pairs, the lowest final score wins\n${indent(table(['', 'group', 'prefill', 'score', 'decode', 'score', 'final'], rows))}${more}`
}

const profileText = (profile: ProfileReceipt, all: boolean): string => {
  const { decision, survivors, candidates } = profile
  const picks = (decision?.picks ?? []).map(({ endpoint }) => endpoint)
  const lines = [`\n  ${profile.stage}, profile ${profile.profile}: ${candidates.length} candidates`]
  for (const { plugin, removed } of profile.filters) lines.push(`    ${plugin} removed ${removed.length}${removed.length === 0 ? '' : `: ${some(removed, all)}`}`)
  if (decision !== undefined && decision.error !== '') lines.push(`    ${decision.error}`)
  const better = profile.lowerWins ? -1 : 1
  const order = survivors.map((_, i) => i).sort((a, b) => better * ((profile.totals[b] ?? 0) - (profile.totals[a] ?? 0)) || a - b)
  const shown = all ? order : order.slice(0, SHOWN_MAX)
  const head = profile.lowerWins ? ['', 'endpoint', ...profile.scorers.map(({ plugin }) => plugin), 'metrics age'] : ['', 'endpoint', ...profile.scorers.flatMap(({ plugin, weight }) => [plugin, `x${weight}`]), 'total', 'metrics age']
  const rows = shown.map((i) => {
    const id = survivors[i] ?? ''
    if (profile.lowerWins) return [picks.includes(id) ? '>' : '', id, ...profile.scorers.map(({ raw }) => score(raw[i] ?? NaN)), age(profile.metricAgesUs[i] ?? -1)]
    const scores = profile.scorers.flatMap(({ weight, raw }) => [number(raw[i] ?? 0), number(clamp(raw[i] ?? 0) * weight)])
    return [picks.includes(id) ? '>' : '', id, ...scores, number(profile.totals[i] ?? 0), age(profile.metricAgesUs[i] ?? -1)]
  })
  lines.push(indent(table(head, rows)))
  if (order.length > shown.length) lines.push(`    and ${order.length - shown.length} more (--all shows them)`)
  if (decision !== undefined && picks.length > 0) {
    const draws = decision.draws.length === 0 ? 'nothing drawn' : `drawn ${decision.draws.map(String).join(', ')}`
    lines.push(`    ${profile.picker}: margin ${number(decision.margin)}${decision.runnerUp === '' ? '' : ` over ${decision.runnerUp}`}, ${decision.ties} with the best total, ${draws}`)
  }
  return lines.join('\n')
}

const some = (ids: readonly string[], all: boolean): string => (all || ids.length <= 8 ? ids.join(', ') : `${ids.slice(0, 8).join(', ')} and ${ids.length - 8} more`)
/** A score of its own scale; NaN is none. */
const score = (value: number): string => (Number.isNaN(value) ? 'none' : number(value))
const number = (value: number): string => String(Math.round(value * 10_000) / 10_000)
const age = (us: number): string => (us < 0 ? 'never heard' : `${Math.round(us / 1000)} ms`)
const time = (us: number): string => new Date(Math.floor(us / 1000)).toISOString()
const indent = (text: string): string => text.split('\n').map((line) => `    ${line}`).join('\n')

/** What ended a request without naming it. */
const ENDS: Readonly<Record<string, string>> = { engineStarted: 'its connection died with the process: scheduler-restarted', timerFired: 'given up: its time was over' }

/** The few fields of an input that tell its story. */
const detail = (input: { readonly kind: string; readonly value: unknown } | undefined): string => {
  const fields = input?.value as Readonly<Record<string, unknown>> | undefined
  const told = ['attempt', 'endpoint', 'status', 'cause', 'tokens'].flatMap((name) => (fields?.[name] === undefined || fields[name] === '' ? [] : [`${name} ${String(fields[name])}`]))
  return ENDS[input?.kind ?? ''] ?? told.join(', ')
}
