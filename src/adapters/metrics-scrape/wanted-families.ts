import type { EngineMapping } from '../../plugins/extractor/core-metrics-extractor/index.ts'

/** In OpenMetrics the metric is named without these; its samples bear them. */
const SAMPLE_SUFFIXES = ['_total', '_info']

/**
 * The families to be read from an exposition; everything else is passed over.
 *
 * An exposition has hundreds of lines and a handful that matter. The wanted names of an engine begin alike ("vllm:"), so
 * one character behind that beginning tells most other lines apart, without reading their names.
 */
export class WantedFamilies {
  private readonly names: ReadonlySet<string>
  private readonly typed: ReadonlySet<string>
  private readonly start: string
  /** Place of the telling character, and which ones it may be. */
  private readonly telling: number
  private readonly isTold = new Uint8Array(256)

  constructor(names: Iterable<string>) {
    this.names = new Set(names)
    this.typed = new Set([...this.names].flatMap((name) => [name, ...SAMPLE_SUFFIXES.filter((end) => name.endsWith(end)).map((end) => name.slice(0, -end.length))]))
    this.start = commonStart([...this.typed])
    // A name may end where the others go on: then their last character in common tells.
    this.telling = Math.max(0, Math.min(this.start.length, ...[...this.typed].map((name) => name.length - 1)))
    for (const name of this.typed) this.isTold[name.charCodeAt(this.telling) & 255] = 1
  }

  has(name: string): boolean {
    return this.names.has(name)
  }

  /** Whether the type of this metric matters. */
  isTyped(name: string): boolean {
    return this.typed.has(name)
  }

  /** False when no wanted name begins at this place of the text. Only a hint: true may be wrong. */
  mayBeginAt(text: string, at: number): boolean {
    return this.isTold[text.charCodeAt(at + this.telling) & 255] === 1 && text.startsWith(this.start, at)
  }
}

/** The families that an engine's mapping reads. */
export const familiesOf = (mapping: EngineMapping): WantedFamilies => {
  const { waiting, running, kvUsage, lora, cacheInfo, cacheBlockSize, cacheNumBlocks } = mapping
  const specs = [waiting, running, kvUsage, lora, cacheInfo, cacheBlockSize, cacheNumBlocks, ...mapping.custom.map(({ spec }) => spec), ...mapping.added.map(({ spec }) => spec)]
  return new WantedFamilies(specs.flatMap((spec) => (spec === undefined ? [] : [spec.name])))
}

const commonStart = (names: readonly string[]): string => {
  const [first = '', ...others] = names
  let length = first.length
  for (const name of others) while (!name.startsWith(first.slice(0, length))) length -= 1
  return first.slice(0, length)
}
