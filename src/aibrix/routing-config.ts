/** The part of a profile that concerns prefill/decode routing. (AIBrix: routingConfig) */
export interface RoutingConfig {
  /** Prompt lengths that the pod takes, in cl100k_base tokens, both ends included. A minimum above the maximum takes none. */
  readonly promptLenBucketMinLength: number
  readonly promptLenBucketMaxLength: number
  /** Whether it may serve both stages of a request. */
  readonly combined: boolean
  /** Names of policies as given; empty where none was. */
  readonly prefillScorePolicy: string
  readonly decodeScorePolicy: string
}

export const UNBOUNDED_LENGTH = 2_147_483_647

export const DEFAULT_ROUTING_CONFIG: RoutingConfig = {
  promptLenBucketMinLength: 0,
  promptLenBucketMaxLength: UNBOUNDED_LENGTH,
  combined: false,
  prefillScorePolicy: '',
  decodeScorePolicy: '',
}

/** Reads a routingConfig; anything wrong in it discards all of it. */
export const routingConfigOf = (value: unknown): RoutingConfig => {
  if (value === undefined || value === null) return DEFAULT_ROUTING_CONFIG
  const read = new Fields(value)
  const min = read.int('promptLenBucketMinLength')
  const max = read.int('promptLenBucketMaxLength')
  const config: RoutingConfig = {
    promptLenBucketMinLength: Math.max(0, min),
    promptLenBucketMaxLength: max === 0 ? UNBOUNDED_LENGTH : max,
    combined: read.flag('combined'),
    prefillScorePolicy: read.text('prefillScorePolicy'),
    decodeScorePolicy: read.text('decodeScorePolicy'),
  }
  return read.isRight ? config : DEFAULT_ROUTING_CONFIG
}

/** Reads a routingConfig from JSON text. */
export const parseRoutingConfig = (json: string | undefined): RoutingConfig => {
  if (json === undefined || json === '') return DEFAULT_ROUTING_CONFIG
  try {
    return routingConfigOf(JSON.parse(json))
  } catch {
    return DEFAULT_ROUTING_CONFIG
  }
}

/** Whether a pod of this configuration takes a prompt of so many cl100k_base tokens. */
export const fitsLength = ({ promptLenBucketMinLength: min, promptLenBucketMaxLength: max }: RoutingConfig, tokens: number): boolean => {
  if (min > max) return false
  return (min === 0 && max === UNBOUNDED_LENGTH) || (min <= tokens && tokens <= max)
}

/**
 * Members of a JSON object as Go's decoder takes them: names match without regard to case, null and absence are the zero
 * value, another type is an error that is remembered.
 */
export class Fields {
  isRight: boolean
  private readonly members: ReadonlyMap<string, unknown>

  constructor(value: unknown) {
    this.isRight = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.members = new Map(this.isRight ? Object.entries(value as object).map(([name, member]: [string, unknown]) => [name.toLowerCase(), member]) : [])
  }

  get(name: string): unknown {
    return this.members.get(name.toLowerCase()) ?? undefined
  }

  int(name: string): number {
    const value = this.get(name)
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
    return this.wrongUnless(value === undefined, 0)
  }

  flag(name: string): boolean {
    const value = this.get(name)
    return typeof value === 'boolean' ? value : this.wrongUnless(value === undefined, false)
  }

  text(name: string): string {
    const value = this.get(name)
    return typeof value === 'string' ? value : this.wrongUnless(value === undefined, '')
  }

  private wrongUnless<T>(isRight: boolean, fallback: T): T {
    if (!isRight) this.isRight = false
    return fallback
  }
}
