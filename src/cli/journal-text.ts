import { kindOf } from '../app/journal-files.ts'
import type { JournalStat, SegmentInfo, Verified } from '../app/journal-files.ts'
import { table } from './table.ts'

type JournalRecord = Parameters<typeof kindOf>[0]
type Decision = JournalRecord['decisions'][number]

const MICROS_PER_S = 1_000_000

/** One record as a line of JSON: 64-bit numbers as text, bytes as base64. */
export function recordJson(record: JournalRecord): string {
  return JSON.stringify(record, (_key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString()
    return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
  })
}

/** One record as a line for people: position, time, kind, what it is about, what was decided. */
export function recordLine(record: JournalRecord): string {
  const about = Object.entries(record.input?.input?.value ?? {}).flatMap(([name, value]) => factText(name, value))
  return [record.position, timeText(record.atUs), kindOf(record), ...about, ...record.decisions.map(decisionText)].join('  ')
}

const FACTS: ReadonlySet<string> = new Set([
  'request', 'requestId', 'model', 'endpoint', 'attempt', 'status', 'cause', 'tokens', 'reason', 'replica', 'producer', 'error', 'runId', 'incarnation',
])

function factText(name: string, value: unknown): string[] {
  if (!FACTS.has(name)) return []
  if (typeof value === 'object' && value !== null && 'id' in value) return [`${name}=${String(value.id)}`]
  const isShown = typeof value === 'number' || (typeof value === 'string' && value !== '')
  return isShown ? [`${name}=${value}`] : []
}

function decisionText(decision: Decision): string {
  const picks = decision.profiles.map(profile => `${profile.profile} ${profile.picks.map(pick => pick.endpoint).join(',') || profile.error}`)
  return `-> ${decision.outcome}${picks.length === 0 ? '' : `: ${picks.join('; ')}`}`
}

/** A time in microseconds since the Unix epoch as ISO 8601, microseconds and all. */
function timeText(atUs: number): string {
  const micros = String(atUs % MICROS_PER_S).padStart(6, '0')
  return `${new Date(Math.floor(atUs / MICROS_PER_S) * 1000).toISOString().slice(0, 19)}.${micros}Z`
}

/** Bytes in the unit that keeps the number short. */
function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? ''}`
}

/** The first base of a journal was made before there was a time: its segment opened with the first record. */
function opened(segment: SegmentInfo, stat: JournalStat): string {
  const atUs = segment.atUs === 0 ? stat.firstAtUs : segment.atUs
  return atUs === 0 ? '' : timeText(atUs)
}

export function statText(stat: JournalStat, segments: readonly SegmentInfo[]): string {
  const facts = [
    ['positions', `${stat.firstPosition} to ${stat.lastPosition}`],
    ['time', stat.records === 0 ? 'no records' : `${timeText(stat.firstAtUs)} to ${timeText(stat.lastAtUs)}`],
    ['records', `${stat.records} in ${stat.batches} batches, ${bytesText(stat.batchBytes)}`],
    ['requests', stat.requests === 0 ? 'none' : `${stat.requests}, ${stat.bytesPerRequest} bytes each`],
    ['bases', `${stat.segments}, ${bytesText(stat.baseBytes)}`],
    ['snapshots', `${stat.snapshots}, ${bytesText(stat.snapshotBytes)}`],
  ]
  const kinds = stat.kinds.map(({ kind, records }) => [kind, String(records)])
  const rows = segments.map(segment => [
    `${segment.basePosition + 1} to ${segment.lastPosition}`, opened(segment, stat),
    String(segment.batches), bytesText(segment.bytes), bytesText(segment.baseBytes), segment.declaresMissing ? 'after missing positions' : '',
  ])
  return [
    table([], facts), '',
    table(['kind', 'records'], kinds), '',
    table(['segment', 'opened', 'batches', 'size', 'base', ''], rows), '',
  ].join('\n')
}

export function verifiedText(path: string, verified: Verified, seconds: number): string {
  const { records, batches, bases, lastPosition, missing, unusableSnapshots } = verified
  return [
    `${path} is whole up to position ${lastPosition}: ${records} records in ${batches} batches, ${bases} bases, ${seconds.toFixed(1)} s`,
    ...missing.map(range => `positions ${range.first} to ${range.last} are declared missing: ${range.reason}`),
    ...unusableSnapshots.map(position => `the snapshot at ${position} cannot be used; it only saves time`),
    '',
  ].join('\n')
}
