import type { MetricFamilies, MetricFamily, MetricKind, Sample } from '../../core/exposition.ts'
import { readSample } from './sample.ts'
import type { WantedFamilies } from './wanted-families.ts'

/** A line that could not be read; lines count from 1. */
interface ExpositionFault {
  readonly line: number
  readonly message: string
}

export interface Exposition {
  readonly families: MetricFamilies
  /** The first of them; `faultCount` counts all. */
  readonly faults: readonly ExpositionFault[]
  readonly faultCount: number
}

/** More faults than these help nobody. */
const FAULTS_KEPT = 8

const HASH = 35
const SPACE = 32
const TAB = 9
const CARRIAGE_RETURN = 13
const LETTER_H = 72
const LETTER_T = 84
const TYPE = '# TYPE '

const TYPE_LINE = /^#[ \t]*TYPE[ \t]+([^ \t]+)[ \t]+([a-z]+)[ \t]*$/

/** The kinds of both formats; those that only OpenMetrics has become the nearest. */
const KINDS: ReadonlyMap<string, MetricKind> = new Map([
  ['gauge', 'gauge'],
  ['counter', 'counter'],
  ['histogram', 'histogram'],
  ['summary', 'summary'],
  ['untyped', 'untyped'],
  ['unknown', 'untyped'],
  ['info', 'gauge'],
  ['stateset', 'gauge'],
  ['gaugehistogram', 'histogram'],
])

/** What samples may bear behind the name of their metric. */
const SAMPLE_END = /_(?:bucket|sum|count|total|info|created|gcount|gsum)$/

/**
 * Reads the wanted families of a Prometheus text exposition, or of an OpenMetrics one. A line that is wrong, or cut off
 * at the end, is a fault and the others stand: one bad series does not hide the rest.
 * @param timestamps the unit of timestamps: milliseconds in the Prometheus format, seconds in OpenMetrics
 */
export const parseExposition = (bytes: Uint8Array, wanted: WantedFamilies, timestamps: 'ms' | 's' = 'ms'): Exposition => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  // One character a byte, so that places in the text are places in the bytes; what is beyond ASCII is decoded on its own.
  const text = buffer.toString('latin1')
  const reading = new Reading(buffer, text, wanted, timestamps)
  let at = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
    const first = text.charCodeAt(at)
    if (first === HASH) reading.comment(at, end)
    else if (first === SPACE || first === TAB || wanted.mayBeginAt(text, at)) reading.line(at, end)
    at = end + 1
  }
  reading.rest(at)
  return reading.result()
}

interface Reached {
  readonly samples: Sample[]
}

class Reading {
  private readonly buffer: Buffer
  private readonly text: string
  private readonly wanted: WantedFamilies
  private readonly timestamps: 'ms' | 's'
  private readonly kinds = new Map<string, MetricKind>()
  private readonly reached = new Map<string, Reached>()
  private readonly faults: ExpositionFault[] = []
  private faultCount = 0

  constructor(buffer: Buffer, text: string, wanted: WantedFamilies, timestamps: 'ms' | 's') {
    this.buffer = buffer
    this.text = text
    this.wanted = wanted
    this.timestamps = timestamps
  }

  comment(at: number, end: number): void {
    const { text, wanted } = this
    // Nearly all comments are the two that stand over each family.
    const kindOfComment = text.charCodeAt(at + 2)
    if (kindOfComment === LETTER_H) return
    if (kindOfComment === LETTER_T && !wanted.mayBeginAt(text, at + TYPE.length) && text.startsWith(TYPE, at)) return
    const [, name, kind] = TYPE_LINE.exec(this.lineText(at, end)) ?? []
    if (name === undefined || kind === undefined || !wanted.isTyped(name)) return
    const known = KINDS.get(kind)
    if (known === undefined) this.fault(at, `unknown metric type "${kind}" of ${name}`)
    else this.kinds.set(name, known)
  }

  line(at: number, end: number): void {
    const { text } = this
    while (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === TAB) at += 1
    let nameEnd = at
    while (nameEnd < end && isNamePart(text.charCodeAt(nameEnd))) nameEnd += 1
    const name = text.slice(at, nameEnd)
    const family = this.familyOf(name)
    if (family === undefined) return
    const sample = readSample(this.buffer, text, { name, at: nameEnd, end: this.lineEnd(at, end), timestamps: this.timestamps })
    if (typeof sample === 'string') {
      this.fault(at, `${name}: ${sample}`)
      return
    }
    const reached = this.reached.get(family)
    if (reached === undefined) this.reached.set(family, { samples: [sample] })
    else reached.samples.push(sample)
  }

  /** What stands behind the last line end: a sample there may be cut off within its number, so it is none. */
  rest(at: number): void {
    const rest = this.text.slice(at)
    if (rest.trim() !== '' && !rest.startsWith('#')) this.fault(at, 'the text ends within a line')
  }

  result(): Exposition {
    const families = new Map<string, MetricFamily>()
    for (const [name, { samples }] of this.reached) families.set(name, { name, kind: this.kindOf(name), samples })
    return { families, faults: this.faults, faultCount: this.faultCount }
  }

  /** A sample's own name where that is wanted; else the compound metric that it belongs to. */
  private familyOf(name: string): string | undefined {
    if (this.wanted.has(name)) return name
    const metric = name.replace(SAMPLE_END, '')
    return metric !== name && this.wanted.has(metric) && this.kinds.has(metric) ? metric : undefined
  }

  private kindOf(name: string): MetricKind {
    return this.kinds.get(name) ?? this.kinds.get(name.replace(SAMPLE_END, '')) ?? 'untyped'
  }

  private fault(at: number, message: string): void {
    this.faultCount += 1
    if (this.faults.length < FAULTS_KEPT) this.faults.push({ line: this.lineNumber(at), message })
  }

  private lineNumber(at: number): number {
    let line = 1
    for (let next = this.text.indexOf('\n'); next >= 0 && next < at; next = this.text.indexOf('\n', next + 1)) line += 1
    return line
  }

  private lineText(at: number, end: number): string {
    return this.text.slice(at, this.lineEnd(at, end))
  }

  private lineEnd(at: number, end: number): number {
    return end > at && this.text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
  }
}

const isNamePart = (code: number): boolean =>
  (code >= 97 && code <= 122) || code === 95 || code === 58 || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
