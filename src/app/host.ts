import { EngineActor } from '../actors/engine-actor.ts'
import type { Clock } from '../actors/clock.ts'
import { RequestDesk } from '../actors/request-desk.ts'
import type { SignalboxSettings } from '../config/signalbox/settings.ts'
import type { CompletedConfiguration } from '../core/configuration.ts'
import type { Observation, PluginType } from '../core/contract.ts'
import { engineOptions } from '../replay/index.ts'
import type { PluginIdentity } from '../wire/input.ts'
import { JournalLinkActor } from './journal-link.ts'
import { openJournal } from './journal.ts'
import type { OpenedJournal } from './journal.ts'
import { VERSION } from './version.ts'

export interface HostOptions {
  readonly settings: SignalboxSettings
  readonly completed: CompletedConfiguration
  readonly userTypes: readonly PluginType[]
  /** Modules that hold the user's types, for the follower's thread. */
  readonly pluginModules: readonly string[]
  /** Hash of the user's code by plugin type. */
  readonly contentHashes: ReadonlyMap<string, string>
  readonly seed: bigint
  readonly runId: string
  /** A clock that begins no earlier than this, in microseconds since the Unix epoch. */
  clock(notBefore: number): Clock
  readonly events: HostEvents
}

/** What the host tells of itself. */
export interface HostEvents {
  observe(observation: Observation): void
  divergence(position: number, message: string): void
  journal(state: string, message: string): void
  /** A fault in code that listens to the engine, after which it goes on, or of the engine itself: see `actor.failure`. */
  fault(error: unknown): void
}

/** The engine with its journal: recovered, started, ready to be fed. Front doors and feeds are somebody else's. */
export class EngineHost {
  readonly actor: EngineActor
  readonly desk: RequestDesk
  readonly journal: OpenedJournal
  readonly link: JournalLinkActor
  /** Divergences that the follower found in this run. */
  divergences = 0

  private constructor(actor: EngineActor, journal: OpenedJournal, link: JournalLinkActor) {
    this.actor = actor
    this.journal = journal
    this.link = link
    this.desk = new RequestDesk(actor)
  }

  /** Opens the journal, recovers the engine from it, and begins a run. */
  static async start(options: HostOptions): Promise<EngineHost> {
    const { events, settings } = options
    const link = new JournalLinkActor((state) => events.journal(state, ''))
    let host: EngineHost | undefined = undefined
    const engine = engineOptions(options.userTypes, { interpreter: settings.interpreter, observe: (observation) => events.observe(observation) })
    const journal = await openJournal(settings, engine, options.pluginModules, {
      onAck: (position) => host?.actor.acknowledged(position),
      onRoom: () => host?.actor.drain(),
      onWriteFailed: (reason) => {
        events.journal('spooling', reason)
        link.send('writeFailed')
      },
      onWriteSucceeded: (missing) => {
        link.send('writeSucceeded')
        link.send('caughtUp')
        if (missing !== undefined) events.journal('live', `positions ${missing.first} to ${missing.last} are missing and declared so`)
      },
      onDivergence: (position, message) => {
        if (host !== undefined) host.divergences += 1
        events.divergence(position, message)
      },
      onFollowerFailed: (reason) => events.journal('unverified', `the follower is gone, so nothing is verified and no snapshots are made: ${reason}`),
      onStopped: (reason) => events.journal('stopped', reason),
    })
    const actor = new EngineActor({ engine: journal.engine, journal: journal.link, clock: options.clock(journal.lastAt), durability: settings.durability, fault: (error) => events.fault(error) })
    host = new EngineHost(actor, journal, link)
    link.send('recovered')
    host.begin(options)
    return host
  }

  /** Whether new requests should be refused, and why. */
  readonly refusal = (settings: SignalboxSettings): string | undefined =>
    settings.onJournalFailure === 'refuse' && this.link.state !== 'live' ? 'the journal cannot be written' : undefined

  /** Stops taking inputs and closes the journal; the records that could not be written. */
  async close(): Promise<number> {
    this.link.send('close')
    this.actor.close()
    const unwritten = await this.journal.close()
    this.link.send('closed')
    this.link.stop()
    return unwritten
  }

  private begin({ completed, contentHashes, seed, runId, settings, userTypes }: HostOptions): void {
    const own = new Set(userTypes.map(({ type }) => type))
    const plugins: PluginIdentity[] = completed.plugins.map(({ name, type }) => ({ name, type, contentHash: own.has(type) ? (contentHashes.get(type) ?? '') : '' }))
    const value = {
      configuration: JSON.stringify(completed),
      plugins, seed, runId,
      version: VERSION,
      wallTimeUs: Date.now() * 1000,
      pool: settings.pool,
      replica: settings.replica,
    }
    this.actor.submitOrThrow({ input: { kind: 'engineStarted', value } })
  }
}
