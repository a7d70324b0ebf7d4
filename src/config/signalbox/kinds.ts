import { bytesText, parseBytes } from '../units/quantity.ts'
import { parseDuration } from '../../core/duration.ts'
import { durationText } from '../units/duration.ts'

/** How the values of a setting are read and written. `read` gives undefined for what is no such value. */
export interface SettingKind<T> {
  /** What a right value is, for messages: "must be {wanted}". */
  readonly wanted: string
  /** What `--help` shows for the value. */
  readonly placeholder: string
  /** From YAML or from the text of a flag. */
  read(given: unknown): T | undefined
  /** As it is written in YAML. */
  write(value: T): unknown
}

/** Where a server listens. Port 0 lets the system choose. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** From 0.0.0.0:0 to [::]:65535. */
export const address: SettingKind<ListenAddress> = {
  wanted: 'host:port',
  placeholder: 'host:port',
  read: (given) => {
    const match = /^(?:\[([^\]]+)\]|([^:\s]*)):(\d{1,5})$/.exec(asText(given) ?? '')
    const port = Number(match?.[3] ?? Number.NaN)
    return match === null || port > 65_535 ? undefined : { host: match[1] ?? match[2] ?? '', port }
  },
  write: ({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${String(port)}`,
}

export const oneOf = <T extends string>(...values: readonly T[]): SettingKind<T> => ({
  wanted: `one of ${values.join(', ')}`,
  placeholder: values.join('|'),
  read: (given) => values.find((value) => value === given),
  write: (value) => value,
})

export const textLike = (placeholder: string, wanted = 'a text that is not empty', pattern = /./): SettingKind<string> => ({
  wanted,
  placeholder,
  read: (given) => (typeof given === 'string' && pattern.test(given) ? given : undefined),
  write: (value) => value,
})

/** A setting that may be left out, for which there is no default. */
export const optional = <T>(kind: SettingKind<T>): SettingKind<T | undefined> => ({ ...kind, write: (value) => (value === undefined ? undefined : kind.write(value)) })

/** Milliseconds, at least `least`. */
export const durationFrom = (least: number): SettingKind<number> => ({
  wanted: least === 0 ? 'a duration such as 400ms, 30s or 1m30s' : `a duration of at least ${durationText(least)}`,
  placeholder: 'duration',
  read: (given) => {
    const ms = parseDuration(asText(given) ?? '')
    return ms === undefined || ms < least ? undefined : ms
  },
  write: durationText,
})

export const wholeFrom = (least: number): SettingKind<number> => ({
  wanted: `a whole number from ${String(least)}`,
  placeholder: 'n',
  read: (given) => {
    const value = typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= least ? value : undefined
  },
  write: (value) => value,
})

export const bytes: SettingKind<number> = {
  wanted: 'a size such as 10MB, 512MiB or 1048576',
  placeholder: 'size',
  read: (given) => parseBytes(typeof given === 'number' ? String(given) : (asText(given) ?? '')),
  write: bytesText,
}

/** How much journal is kept: segments older or beyond either bound are dropped. */
export interface JournalKeep {
  readonly ms: number
  readonly bytes: number
}

export const journalKeep: SettingKind<JournalKeep> = {
  wanted: 'a duration and a size such as 24h,20GB',
  placeholder: 'duration,size',
  read: (given) => {
    const [age = '', size = '', ...rest] = (asText(given) ?? '').split(',').map((part) => part.trim())
    const ms = parseDuration(age)
    const most = parseBytes(size)
    return ms === undefined || most === undefined || ms <= 0 || most === 0 || rest.length > 0 ? undefined : { ms, bytes: most }
  },
  write: (keep) => `${durationText(keep.ms)},${bytesText(keep.bytes)}`,
}

export interface Objective {
  readonly name: string
  readonly priority: number
}

const objective = (given: unknown): Objective | undefined => {
  if (typeof given !== 'object' || given === null) return undefined
  const { name, priority = 0, ...rest } = given as { name?: unknown; priority?: unknown }
  if (typeof name !== 'string' || name === '' || Object.keys(rest).length > 0) return undefined
  return typeof priority === 'number' && Number.isSafeInteger(priority) ? { name, priority } : undefined
}

/** In YAML a list of {name, priority}; as a flag "name=priority,name=priority". */
export const objectives: SettingKind<readonly Objective[]> = {
  wanted: 'a list of {name, priority} without a name twice (as a flag: name=priority,...), priority a whole number',
  placeholder: 'name=priority,...',
  read: (given) => {
    const entries = typeof given === 'string' ? fromFlag(given) : given
    if (!Array.isArray(entries)) return undefined
    const read = entries.map(objective).filter((entry) => entry !== undefined)
    return read.length === entries.length && new Set(read.map(({ name }) => name)).size === read.length ? read : undefined
  },
  write: (list) => list.map(({ name, priority }) => ({ name, priority })),
}

const fromFlag = (text: string): unknown[] =>
  text === ''
    ? []
    : text.split(',').map((entry) => {
        const [, name, priority] = /^([^=]+)=(-?\d+)$/.exec(entry.trim()) ?? []
        return name === undefined ? undefined : { name, priority: Number(priority) }
      })
