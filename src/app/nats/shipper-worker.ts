import { parentPort, workerData } from 'node:worker_threads'
import { NatsLink } from '../../adapters/nats/connection.ts'
import { StreamJournal } from '../../adapters/nats/journal/stream-journal.ts'
import { Names } from '../../adapters/nats/names.ts'
import { SqliteJournalReader } from '../../adapters/sqlite/journal-reader.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { FromShipper, ShipperData, ToShipper } from './shipper-protocol.ts'
import { Shipping } from './shipping.ts'

const RETRY_MS = 250
/** How often it is looked whether the stream is still whole: somebody may have purged or deleted it. */
const LOOK_MS = 5000
/** How often bases and snapshots are looked for. Nobody waits for them, while answers may wait for the records. */
const STATES_MS = 1000
/** Failures after which a closing journal is left as it is: the file has it all. */
const CLOSING_TRIES = 3

/** Carries the journal whenever there is something to carry and a server to carry it to. */
class Shipper {
  private readonly data: ShipperData
  private readonly source: SqliteJournalReader
  private link: NatsLink | undefined
  private target: StreamJournal | undefined
  private shipping: Shipping | undefined
  private written: number
  private wake: (() => void) | undefined
  private closing = false
  private closingTries = 0
  /** Whether it was looked at last when there was nothing more to carry. */
  private isLookedAt = false
  private isAway = false
  private lookedMs = performance.now()
  private statesMs = -Infinity

  constructor(data: ShipperData) {
    this.data = data
    this.source = SqliteJournalReader.open(data.path)
    this.written = this.source.lastPosition()
  }

  receive(message: ToShipper): void {
    if (message.type === 'written') this.written = Math.max(this.written, message.position)
    else this.closing = true
    this.wake?.()
  }

  async run(): Promise<void> {
    while (!this.closing || this.behind() > 0 || !this.isLookedAt) {
      try {
        await this.step()
      } catch (error) {
        if (error instanceof SignalboxError && error.code === 'journal-locked' && !(await this.isOwnEnd())) return this.refused(error)
        this.away(error instanceof Error ? error.message : String(error))
        if (this.closing && (this.link?.connected !== true || ++this.closingTries >= CLOSING_TRIES)) break
        await this.pause(RETRY_MS)
      }
    }
    const behind = this.behind()
    this.target?.close()
    await this.link?.close()
    this.source.close()
    post({ type: 'closed', behind })
  }

  private async step(): Promise<void> {
    const shipping = this.shipping ?? (await this.begin())
    this.shipping = shipping
    const more = await shipping.round((position) => post({ type: 'shipped', position }))
    if (performance.now() - this.statesMs >= STATES_MS) {
      this.statesMs = performance.now()
      await shipping.carryStates()
    }
    if (more || this.behind() > 0) return
    if (this.isAway) {
      this.isAway = false
      post({ type: 'live' })
    }
    const { closing } = this
    if (closing) await shipping.carryStates()
    if (closing || performance.now() - this.lookedMs >= LOOK_MS) {
      this.lookedMs = performance.now()
      if (!(await shipping.isWhole())) throw new SignalboxError('journal-write', 'the stream lost batches that it had')
      this.isLookedAt = closing
    }
    if (!this.closing && this.behind() <= 0) await this.pause(LOOK_MS)
  }

  private async begin(): Promise<Shipping> {
    const { store, keep } = this.data
    this.link ??= await NatsLink.open(store.nats, {
      down: () => this.target?.abandon('the NATS server is away'),
      up: () => this.wake?.(),
    })
    if (!this.link.connected) throw new SignalboxError('journal-write', 'the NATS server is away')
    this.target ??= await StreamJournal.open({ link: this.link, names: new Names(store.prefix, store.pool), replica: store.replica, streamReplicas: store.streamReplicas })
    const shipping = new Shipping(this.source, this.target, keep)
    await shipping.begin()
    post({ type: 'shipped', position: shipping.shipped })
    return shipping
  }

  /** A refusal for what this process itself stored, its acknowledgement lost, is none: begin() compares the records. */
  private async isOwnEnd(): Promise<boolean> {
    try {
      this.shipping = await this.begin()
      return true
    } catch (error) {
      return !(error instanceof SignalboxError && error.code === 'journal-locked')
    }
  }

  private refused({ code, message }: SignalboxError): void {
    post({ type: 'refused', code, message })
  }

  private away(reason: string): void {
    this.shipping = undefined
    if (this.isAway) return
    this.isAway = true
    post({ type: 'away', reason })
  }

  private behind(): number {
    return this.written - (this.shipping?.shipped ?? 0)
  }

  private async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.wake = undefined
  }
}

const post = (message: FromShipper): void => {
  parentPort?.postMessage(message)
  if (message.type === 'closed' || message.type === 'refused') parentPort?.close()
}

const shipper = new Shipper(workerData as ShipperData)
parentPort?.on('message', (message: ToShipper) => shipper.receive(message))
await shipper.run()
