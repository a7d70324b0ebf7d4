import { SeededStream } from '../core/random.ts'
import type { RandomStream } from '../core/random.ts'

/**
 * The streams of chance of the run in hand, named by (seed, position of the request's arrival, attempt, profile,
 * plugin). All that is drawn in a run is noted.
 */
export class Chance {
  private readonly noted: number[] = []
  private readonly streams = new Map<string, { readonly stream: SeededStream; run: number }>()
  private run = 0
  private seedLow = 0
  private seedHigh = 0
  private position = 0
  private attempt = 0
  private profile = ''

  /** Sets the seed: an unsigned 64-bit number. */
  seed(seed: bigint): void {
    this.seedLow = Number(seed & 0xffffffffn)
    this.seedHigh = Number(seed >> 32n)
  }

  /** The request, by position of its arrival, and its attempt, for which the next runs draw. */
  begin(position: number, attempt: number): void {
    this.position = position
    this.attempt = attempt
    this.enter('')
  }

  /** Begins a run: streams start anew and nothing is noted yet. */
  enter(profile: string): void {
    this.profile = profile
    this.run += 1
    this.noted.length = 0
  }

  /** The plugin's stream in this run; asked for again it goes on where it was. */
  die(plugin: string): RandomStream {
    let entry = this.streams.get(plugin)
    if (entry === undefined) {
      entry = { stream: new SeededStream(this.noted), run: -1 }
      this.streams.set(plugin, entry)
    }
    if (entry.run !== this.run) {
      entry.run = this.run
      entry.stream.begin(this.seedLow, this.seedHigh, this.position, this.attempt, this.profile, plugin)
    }
    return entry.stream
  }

  /** What this run drew so far. */
  drawn(): readonly number[] {
    return this.noted.length === 0 ? NONE : this.noted.slice()
  }
}

const NONE: readonly number[] = []
