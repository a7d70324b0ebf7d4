import { STAGES } from './play-report.ts'
import type { PlayReport } from './play-report.ts'
import type { Percentiles } from './percentiles.ts'

/** The report as a table for people, ending in a line break. */
export function reportText(report: PlayReport): string {
  const lines = [
    row('requests', `${report.sent} sent, ${report.completed} completed, ${report.failed} failed${report.interrupted ? ' (interrupted)' : ''}`),
    row('time', `${(report.durationMs / 1000).toFixed(1)} s, ${rate(report)} requests/s`),
    row('tokens', `${report.promptTokens} prompt, ${report.completionTokens} output`),
    '',
    row('', `${'p50'.padStart(10)}${'p90'.padStart(10)}${'p99'.padStart(10)}   ms`),
    row('first token', times(report.firstTokenMs)),
    row('between tokens', times(report.interTokenMs)),
    row('end to end', times(report.endToEndMs)),
    '',
    row('prefix hits', prefixText(report)),
  ]
  if (report.heldBack > 0) lines.push(row('held back', `${report.heldBack} for a free connection, at most ${report.latestMs.toFixed(0)} ms`))
  for (const stage of STAGES) {
    for (const { endpoint, requests, share } of report.endpoints[stage]) {
      lines.push(row(stage, `${endpoint}  ${requests}  ${percent(share)}`))
    }
  }
  for (const { kind, count, example } of report.errors) lines.push(row('error', `${count} x ${kind}: ${example}`))
  return `${lines.join('\n')}\n`
}

function row(name: string, value: string): string {
  return `${name.padEnd(16)}${value}`
}

function rate(report: PlayReport): string {
  return report.durationMs > 0 ? ((report.sent * 1000) / report.durationMs).toFixed(1) : '0'
}

function times(values: Percentiles): string {
  return [values.p50, values.p90, values.p99].map((value) => (value === null ? '-' : value.toFixed(1)).padStart(10)).join('')
}

function prefixText(report: PlayReport): string {
  const { hitShare, ceilingShare, ofCeiling } = report.prefix
  if (hitShare === null || ceilingShare === null) return 'nothing sent'
  if (ofCeiling === null) return `${percent(hitShare)} of prompt tokens (the requests sent share nothing)`
  return `${percent(hitShare)} of prompt tokens, ${percent(ofCeiling)} of the ceiling (${percent(ceilingShare)})`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
