import { readlinkSync } from 'node:fs'
import { constants, getPriority, platform, setPriority } from 'node:os'
import { basename } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { openBatch } from '../../journal/batch.ts'
import { startingPoint } from '../../journal/reading.ts'
import { sealBase, sealSnapshot } from '../../journal/state-message.ts'
import type { SealedState, StateAt } from '../../journal/state-message.ts'
import { JournalError } from '../../journal/journal-error.ts'
import type { MissingRange } from '../../wire/index.ts'
import type { CreateFollower, FollowedRun, Follower, FollowerReport, FromFollower, RecordsMessage, SnapshotRules, ToFollower } from './follower-protocol.ts'
import { SqliteJournalReader } from './journal-reader.ts'

/** What the thread is started with. */
export interface FollowerWorkerData {
  /** URL of the module that exports `createFollower`. */
  readonly module: string
  readonly options: unknown
  readonly rules: SnapshotRules
  /** To the writer. */
  readonly port: MessagePort
}

class FollowerThread {
  private readonly follower: Follower
  private readonly port: MessagePort
  private readonly rules: SnapshotRules
  private position = 0
  private atUs = 0
  private snapshotPosition = 0
  private snapshotAtUs = 0

  constructor(follower: Follower, port: MessagePort, rules: SnapshotRules) {
    this.follower = follower
    this.port = port
    this.rules = rules
  }

  receive(message: ToFollower): void {
    switch (message.type) {
      case 'start':
        this.recover(message.path, message.lastPosition)
        return
      case 'records':
        this.follow(message)
        return
      case 'base-wanted':
        this.sendBase(message.previousHash, message.missing)
        return
      case 'finish':
        if (this.position > this.snapshotPosition) this.sendSnapshot()
        this.send({ type: 'finished' })
        this.port.close()
    }
  }

  private recover(path: string, lastPosition: number): void {
    const reader = SqliteJournalReader.open(path)
    try {
      const start = startingPoint(reader, lastPosition)
      this.follower.restore(start)
      this.position = this.snapshotPosition = start.position
      this.atUs = this.snapshotAtUs = start.atUs
      for (const stored of reader.batches(start.position)) {
        if (stored.firstPosition > lastPosition) break
        const batch = openBatch(stored.bytes)
        if (batch === undefined || batch.firstPosition !== this.position + 1) {
          throw new JournalError('journal-broken-chain', `the batch at position ${this.position + 1} was changed, cut or lost`, this.position)
        }
        this.apply(batch)
        this.atUs = stored.atUs
      }
    } finally {
      reader.close()
    }
    this.send({ type: 'followed', position: this.position })
  }

  private follow(message: RecordsMessage): void {
    const { firstPosition, count, atUs, pieces } = message
    const [only] = pieces
    this.apply({ firstPosition, count, records: pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces) })
    this.atUs = atUs
    if (this.snapshotAtUs === 0) this.snapshotAtUs = atUs
    this.send({ type: 'followed', position: this.position })
    const records = this.position - this.snapshotPosition
    if (message.written && (records >= this.rules.everyRecords || atUs - this.snapshotAtUs >= this.rules.everyUs)) this.sendSnapshot()
  }

  private apply(run: FollowedRun): void {
    for (const { position, message } of this.follower.apply(run)) report({ type: 'divergence', position, message })
    this.position = run.firstPosition + run.count - 1
  }

  private sendBase(previousHash: bigint, missing: MissingRange | undefined): void {
    const state = sealBase(this.stateHere(), previousHash, missing)
    this.send({ type: 'base', state, declaresMissing: missing !== undefined }, state)
  }

  private sendSnapshot(): void {
    const state = sealSnapshot(this.stateHere())
    this.snapshotPosition = this.position
    this.snapshotAtUs = this.atUs
    this.send({ type: 'snapshot', state }, state)
  }

  private stateHere(): StateAt {
    const { bytes, hash, position } = this.follower.state()
    if (position !== this.position) throw new Error(`the follower is at position ${position}, not at ${this.position}`)
    return { position, atUs: this.atUs, stateHash: hash, state: bytes }
  }

  private send(message: FromFollower, state?: SealedState): void {
    this.port.postMessage(message, state === undefined ? [] : [state.bytes.buffer as ArrayBuffer])
  }
}

function report(message: FollowerReport): void {
  parentPort?.postMessage(message)
}

async function run({ module, options, rules, port }: FollowerWorkerData): Promise<void> {
  const exports = await import(module) as { readonly createFollower?: CreateFollower }
  if (exports.createFollower === undefined) throw new Error(`${module} exports no createFollower`)
  const thread = new FollowerThread(await exports.createFollower(options), port, rules)
  port.on('message', (message: ToFollower) => {
    try {
      thread.receive(message)
    } catch (error) {
      fail(port, error)
    }
  })
}

function fail(port: MessagePort, error: unknown): void {
  report({ type: 'failed', message: error instanceof Error ? error.message : String(error) })
  port.close()
}

/**
 * Nobody waits for the follower, so where there are not enough processors it gives way to the threads that somebody waits
 * for; what it falls behind by it makes good later. Threads have priorities of their own on Linux alone.
 */
function giveWay(): void {
  if (platform() !== 'linux') return
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), getPriority() + constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // A container may hide /proc or forbid the call: then it takes its share as the others do.
  }
}

giveWay()
const data = workerData as FollowerWorkerData
run(data).catch((error: unknown) => fail(data.port, error))
