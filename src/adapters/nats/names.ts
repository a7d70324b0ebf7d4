import { SignalboxError } from '../../core/errors.ts'

const PLAIN = /^[A-Za-z0-9_-]+$/
/** Marks a token that holds base64url; it is no letter of base64url's own. */
const MARK = '='
const PREFIX = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/**
 * A name as one token of a subject or as a key: as it is where that is allowed, else "=" and its UTF-8 in base64url.
 * @throws SignalboxError input-invalid where the text is no Unicode (half a surrogate pair), which has no UTF-8
 */
export const tokenOf = (name: string): string => {
  if (PLAIN.test(name)) return name
  if (!name.isWellFormed()) throw new SignalboxError('input-invalid', 'a name with half a surrogate pair cannot be sent')
  return MARK + Buffer.from(name, 'utf8').toString('base64url')
}

/** The name that a token stands for; undefined where it stands for none. */
export const nameOf = (token: string): string | undefined => {
  if (!token.startsWith(MARK)) return PLAIN.test(token) ? token : undefined
  const name = Buffer.from(token.slice(1), 'base64url').toString('utf8')
  return tokenOf(name) === token ? name : undefined
}

/** Every subject, stream and bucket of a pool. */
export class Names {
  readonly prefix: string
  readonly pool: string

  /** @throws SignalboxError usage where the pool or the prefix is not made of A-Z a-z 0-9 _ - */
  constructor(prefix: string, pool: string) {
    if (!PREFIX.test(prefix)) throw new SignalboxError('usage', `nats-subject-prefix \`${prefix}\` must be tokens of A-Z a-z 0-9 _ - between dots`)
    this.prefix = prefix
    this.pool = checked('pool', pool)
  }

  telemetry(endpoint: string): string {
    return this.subject('telemetry', tokenOf(endpoint))
  }

  get anyTelemetry(): string {
    return this.subject('telemetry', '*')
  }

  kv(endpoint: string): string {
    return this.subject('kv', tokenOf(endpoint))
  }

  get anyKv(): string {
    return this.subject('kv', '*')
  }

  /** Where an agent is asked for all that its engine holds. */
  kvWanted(endpoint: string): string {
    return this.subject('kv-wanted', tokenOf(endpoint))
  }

  get schedule(): string {
    return this.subject('schedule')
  }

  lifecycle(replica: string, request: number): string {
    return this.subject('request', checked('replica', replica), String(request))
  }

  anyLifecycleOf(replica: string): string {
    return this.subject('request', checked('replica', replica), '*')
  }

  get anyLifecycle(): string {
    return this.subject('request', '>')
  }

  load(replica: string): string {
    return this.subject('load', checked('replica', replica))
  }

  get anyLoad(): string {
    return this.subject('load', '*')
  }

  journal(replica: string): string {
    return this.subject('journal', checked('replica', replica))
  }

  /** KV bucket of the membership. */
  get endpointsBucket(): string {
    return `${this.stem}_endpoints`
  }

  /** KV bucket of the replicas' heartbeats. */
  get replicasBucket(): string {
    return `${this.stem}_replicas`
  }

  get lifecycleStream(): string {
    return `${this.stem}_requests`
  }

  get kvStream(): string {
    return `${this.stem}_kv`
  }

  get loadStream(): string {
    return `${this.stem}_load`
  }

  journalStream(replica: string): string {
    return `${this.stem}_journal_${checked('replica', replica)}`
  }

  /** Object store of a journal's bases and snapshots. */
  journalStates(replica: string): string {
    return `${this.stem}_journal_${checked('replica', replica)}_states`
  }

  /** The prefix without its version and dots, so that two prefixes never share a bucket: signalbox.v1 is `signalbox`. */
  private get stem(): string {
    const own = this.prefix === DEFAULT_PREFIX ? 'signalbox' : this.prefix.replaceAll('.', '_')
    return `${own}_${this.pool}`
  }

  private subject(...tokens: readonly string[]): string {
    return [this.prefix, this.pool, ...tokens].join('.')
  }
}

const DEFAULT_PREFIX = 'signalbox.v1'

const checked = (what: string, name: string): string => {
  if (PLAIN.test(name)) return name
  throw new SignalboxError('usage', `the name of the ${what} \`${name}\` must be made of A-Z a-z 0-9 _ -`)
}
