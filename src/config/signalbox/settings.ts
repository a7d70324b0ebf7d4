import { DEFAULT_ENGINE_SETTINGS } from '../../core/configuration.ts'
import { address, bytes, durationFrom, journalKeep, objectives, oneOf, optional, textLike, wholeFrom } from './kinds.ts'
import type { JournalKeep, ListenAddress, Objective, SettingKind } from './kinds.ts'

/** Signalbox's own settings. Names ending in Ms are milliseconds, in Bytes bytes. */
export interface SignalboxSettings {
  readonly listen: ListenAddress
  readonly adminListen: ListenAddress
  /** Who may see /ui: this machine, everybody who reaches the admin port, nobody. */
  readonly ui: 'loopback' | 'on' | 'off'
  readonly journal: 'sqlite' | 'memory' | 'nats'
  readonly journalPath: string
  readonly journalKeep: JournalKeep
  readonly durability: 'async' | 'commit'
  readonly onJournalFailure: 'continue' | 'refuse'
  /** Records between snapshots; 0 makes none. */
  readonly snapshotEvery: number
  readonly interpreter: 'table' | 'xstate'
  readonly pool: string
  readonly replica: string
  readonly objectives: readonly Objective[]
  readonly timeoutProducerMs: number
  readonly timeoutSentMs: number
  readonly timeoutFirstTokenMs: number
  readonly timeoutSilenceMs: number
  readonly retryAttempts: number
  readonly unreachableStrikes: number
  readonly unreachableFirstBackoffMs: number
  readonly unreachableLastBackoffMs: number
  readonly staleAfterMs: number
  readonly saturatedRequests: number
  readonly bodyLimitBytes: number
  readonly forceUsage: 'on' | 'off'
  readonly promptHashSecretFile: string | undefined
  readonly refreshMetricsIntervalMs: number
  readonly scrapeConcurrency: number
  readonly drainTimeoutMs: number
  /** Who runs the prefill leg of a request; undefined leaves it to the profile handler. */
  readonly pdExecution: 'gateway' | 'headers' | undefined
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
  readonly logFormat: 'json' | 'text'
  /** URLs of the broker with commas between; undefined for none. */
  readonly nats: string | undefined
  readonly natsCredsFile: string | undefined
  readonly natsNkeyFile: string | undefined
  readonly natsUser: string | undefined
  readonly natsPasswordFile: string | undefined
  readonly natsTokenFile: string | undefined
  readonly natsTlsCaFile: string | undefined
  readonly natsTlsCertFile: string | undefined
  readonly natsTlsKeyFile: string | undefined
  readonly natsInboxPrefix: string | undefined
  readonly natsSubjectPrefix: string
  readonly natsStreamReplicas: number
  readonly natsEndpointTimeoutMs: number
  /** A decimal number below 2^64; undefined lets the engine draw one at its start. */
  readonly seed: string | undefined
}

/** One setting: its name in YAML, which is also its flag without the dashes. */
export interface Setting<T> {
  readonly name: string
  readonly kind: SettingKind<T>
  readonly fallback: T
  /** One line for `--help`, without the default. */
  readonly help: string
  /** A value below it is raised to it with a warning. */
  readonly floor?: T
}

const setting = <T>(name: string, kind: SettingKind<T>, fallback: T, help: string): Setting<T> => ({ name, kind, fallback, help })

const engine = DEFAULT_ENGINE_SETTINGS
// One token of a subject on NATS and one part of a stream's name.
const POOL_NAME = /^[A-Za-z0-9_-]+$/
const SUBJECT_PREFIX = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const SEED_MAX = 18_446_744_073_709_551_615n
const seed: SettingKind<string> = {
  wanted: 'a whole number from 0, below 2^64',
  placeholder: 'n',
  read: (given) => {
    const text = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given
    return typeof text === 'string' && /^\d{1,20}$/.test(text) && BigInt(text) <= SEED_MAX ? BigInt(text).toString() : undefined
  },
  write: (value) => value,
}

/** Every setting, once: flags, `--help` and the checking of YAML all come from here. */
export const SETTINGS: { readonly [K in keyof SignalboxSettings]: Setting<SignalboxSettings[K]> } = {
  listen: setting('listen', address, { host: '127.0.0.1', port: 8080 }, 'where requests come in'),
  adminListen: setting('admin-listen', address, { host: '127.0.0.1', port: 9090 }, 'where metrics, health, decisions and the visualizer are served'),
  ui: setting('ui', oneOf('loopback', 'on', 'off'), 'loopback', 'who is served the visualizer at /ui: this machine, everybody who reaches the admin port, nobody'),
  journal: setting('journal', oneOf('sqlite', 'memory', 'nats'), 'sqlite', 'where the journal is kept; nats: in JetStream, with the sqlite file as its spool'),
  journalPath: setting('journal-path', textLike('path'), '.signalbox/journal.sqlite', 'file of the sqlite journal'),
  journalKeep: setting('journal-keep', journalKeep, { ms: 86_400_000, bytes: 20e9 }, 'how much journal is kept; whole segments beyond either bound are dropped'),
  durability: setting('durability', oneOf('async', 'commit'), 'async', 'async answers at once and may lose the last 50 ms; commit answers when the journal holds the decision'),
  onJournalFailure: setting('on-journal-failure', oneOf('continue', 'refuse'), 'continue', 'what to do with requests while the journal cannot be written'),
  snapshotEvery: setting('snapshot-every', wholeFrom(0), 10_000, 'records between snapshots; 0 makes none'),
  interpreter: setting('interpreter', oneOf('table', 'xstate'), 'table', 'what runs the state machines'),
  pool: setting('pool', textLike('name', 'made of A-Z a-z 0-9 _ -', POOL_NAME), engine.pool, 'name of the pool of endpoints'),
  replica: setting('replica', textLike('name', 'made of A-Z a-z 0-9 _ -', POOL_NAME), 'replica-0', 'name of this engine among those of its pool'),
  objectives: setting('objectives', objectives, engine.objectives, 'priority of each inference objective; a request without one has priority 0'),
  timeoutProducerMs: setting('timeout-producer', durationFrom(1), engine.timeouts.producerMs, 'how long a request waits for an asynchronous producer'),
  timeoutSentMs: setting('timeout-sent', durationFrom(1), engine.timeouts.sentMs, 'how long a scheduled request may take to be sent'),
  timeoutFirstTokenMs: setting('timeout-first-token', durationFrom(1), engine.timeouts.firstTokenMs, 'how long a sent request may take to its first token'),
  timeoutSilenceMs: setting('timeout-silence', durationFrom(1), engine.timeouts.silenceMs, 'how long a stream may give no sign of life'),
  retryAttempts: setting('retry-attempts', wholeFrom(1), engine.retry.attempts, 'attempts at most, the first included'),
  unreachableStrikes: setting('unreachable-strikes', wholeFrom(1), engine.unreachable.strikes, 'failures in a row that take an endpoint out of the candidates'),
  unreachableFirstBackoffMs: setting('unreachable-first-backoff', durationFrom(1), engine.unreachable.firstBackoffMs, 'how long it stays out the first time; doubles each time'),
  unreachableLastBackoffMs: setting('unreachable-last-backoff', durationFrom(1), engine.unreachable.lastBackoffMs, 'how long it stays out at most'),
  staleAfterMs: setting('stale-after', durationFrom(1), engine.staleAfterMs, 'age of metrics from which an endpoint counts as stale'),
  saturatedRequests: setting('saturated-requests', wholeFrom(1), engine.saturatedRequests, 'requests in flight from which an endpoint is shown as saturated'),
  bodyLimitBytes: setting('body-limit', bytes, 10_485_760, 'largest request body'),
  forceUsage: setting('force-usage', oneOf('on', 'off'), 'off', 'on asks streams for their usage although the client did not, and keeps it from the client'),
  promptHashSecretFile: setting('prompt-hash-secret-file', optional(textLike('path')), undefined, 'file with the secret of the pool that seeds prompt hashes'),
  refreshMetricsIntervalMs: { ...setting('refresh-metrics-interval', durationFrom(0), 50, 'how often the metrics of each endpoint are read'), floor: 50 },
  scrapeConcurrency: setting('scrape-concurrency', wholeFrom(1), 64, 'endpoints whose metrics are read at the same time'),
  drainTimeoutMs: setting('drain-timeout', durationFrom(0), 30_000, 'how long requests in flight may go on after SIGTERM'),
  pdExecution: setting('pd-execution', optional(oneOf('gateway', 'headers')), undefined, 'who runs a prefill: the front door, or the endpoint that decodes, told by headers; gateway by default with aibrix-pd-profile-handler, headers with any other'),
  logLevel: setting('log-level', oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'), 'info', 'least severe line that is logged'),
  logFormat: setting('log-format', oneOf('json', 'text'), 'json', 'how log lines are written'),
  nats: setting('nats', optional(textLike('url,...')), undefined, 'NATS servers, as nats://host:port or tls://host:port; turns on telemetry, membership and the schedule service'),
  natsCredsFile: setting('nats-creds-file', optional(textLike('path')), undefined, 'credentials file (JWT and NKEY seed) for NATS'),
  natsNkeyFile: setting('nats-nkey-file', optional(textLike('path')), undefined, 'file with the NKEY seed for NATS'),
  natsUser: setting('nats-user', optional(textLike('name')), undefined, 'user for NATS'),
  natsPasswordFile: setting('nats-password-file', optional(textLike('path')), undefined, 'file with the password of the NATS user'),
  natsTokenFile: setting('nats-token-file', optional(textLike('path')), undefined, 'file with the token for NATS'),
  natsTlsCaFile: setting('nats-tls-ca-file', optional(textLike('path')), undefined, 'certificates that the NATS server must be signed by'),
  natsTlsCertFile: setting('nats-tls-cert-file', optional(textLike('path')), undefined, 'own certificate for NATS'),
  natsTlsKeyFile: setting('nats-tls-key-file', optional(textLike('path')), undefined, 'key of the own certificate for NATS'),
  natsInboxPrefix: setting('nats-inbox-prefix', optional(textLike('subject')), undefined, 'subject under which answers come, where the NATS user may not use _INBOX'),
  natsSubjectPrefix: setting('nats-subject-prefix', textLike('subject', 'tokens of A-Z a-z 0-9 _ - between dots', SUBJECT_PREFIX), 'signalbox.v1', 'what every subject begins with'),
  natsStreamReplicas: setting('nats-stream-replicas', wholeFrom(1), 1, 'copies of streams and buckets that the NATS servers keep'),
  natsEndpointTimeoutMs: setting('nats-endpoint-timeout', durationFrom(1000), 10_000, 'how long an endpoint announced on NATS may give no heartbeat'),
  seed: setting('seed', optional(seed), undefined, 'seed of every tie and draw; drawn at the start when left out'),
}

/** The keys of all settings, in the order of the table. */
export const settingKeys: readonly (keyof SignalboxSettings)[] = Object.keys(SETTINGS) as (keyof SignalboxSettings)[]
