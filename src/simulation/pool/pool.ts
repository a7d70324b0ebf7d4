import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { startEndpoint } from '../endpoint/endpoint.ts'
import type { EndpointState, SimulatedEndpoint } from '../endpoint/endpoint.ts'
import type { Engine } from '../endpoint/exposition.ts'
import type { Faults } from '../endpoint/faults.ts'
import type { KvPorts } from '../endpoint/kv-publisher.ts'
import type { Role } from '../endpoint/role.ts'
import type { EndpointTiming } from '../endpoint/timing.ts'
import { startControl } from './pool-control.ts'
import type { PoolControl } from './pool-control.ts'
import { endpointsDocument, replaceFile, rolesetLabels, stateFileOf } from './pool-file.ts'
import type { PoolMember, PoolRecord } from './pool-file.ts'

export interface PoolOptions {
  /** How many endpoints of each role; `plain` ones have no role label. */
  readonly decode?: number
  readonly prefill?: number
  readonly encode?: number
  readonly plain?: number
  readonly model?: string
  readonly adapters?: readonly string[]
  readonly engine?: Engine
  readonly speed?: number
  readonly timing?: Partial<EndpointTiming>
  readonly host?: string
  /** Endpoints take this port and the following ones; 0: free ports. */
  readonly portBase?: number
  readonly controlPort?: number
  readonly namespace?: string
  /** Groups prefill and decode endpoints in so many rolesets, by AIBrix's labels; 0: no such labels. */
  readonly rolesets?: number
  /** The endpoints publish KV events and replay them, on this port and the following ones, two each, or (0) on free ones; their labels tell. */
  readonly kvEvents?: number
  /** Where the file-discovery document goes; its state file lies beside it. Without it nothing is written. */
  readonly endpointsFile?: string
}

export interface PoolState {
  readonly id: string
  readonly pid: number
  readonly model: string
  readonly speed: number
  readonly running: number
  readonly waiting: number
  readonly endpoints: readonly (EndpointState & PoolMember)[]
}

/** A pool of simulated endpoints in this process. */
export interface Pool {
  readonly id: string
  readonly controlUrl: string
  readonly stateFile: string | undefined
  readonly endpoints: readonly SimulatedEndpoint[]
  /** Resolves when the pool has been closed, by whomever. */
  readonly closed: Promise<void>
  state(): PoolState
  /** Starts another endpoint and announces it. Throws a RangeError when the name is taken. */
  add(role: Role, name?: string): Promise<PoolMember>
  /** Takes an endpoint out of the document, then ends it; false when there is none of this name. */
  remove(name: string): Promise<boolean>
  /** Throws a RangeError when there is no endpoint of this name. */
  setFaults(name: string, faults: Partial<Faults>): Promise<void>
  close(graceMs?: number): Promise<void>
}

/** Starts a pool and, with `endpointsFile`, announces it. When one endpoint cannot start, none is left behind. */
export async function startPool(options: PoolOptions = {}): Promise<Pool> {
  const pool = new EndpointPool(options)
  try {
    await pool.open()
  } catch (error) {
    await pool.close()
    throw error
  }
  return pool
}

const kvPorts = (first: number, number: number): KvPorts => (first === 0 ? { port: 0, replayPort: 0 } : { port: first + 2 * number, replayPort: first + 2 * number + 1 })

/** Where a scheduler, or an agent, follows the endpoint's KV events. */
const kvLabels = (ports: KvPorts | undefined): Readonly<Record<string, string>> =>
  ports === undefined ? {} : { 'signalbox/kv-events-port': String(ports.port), 'signalbox/kv-replay-port': String(ports.replayPort) }

const ROLE_NAMES: Partial<Record<Role, string>> = { '': 'plain' }

class EndpointPool implements Pool {
  readonly id: string = randomUUID()
  readonly stateFile: string | undefined
  readonly closed: Promise<void>
  readonly #options: PoolOptions
  readonly #endpointsFile: string | undefined
  readonly #endpoints = new Map<string, SimulatedEndpoint>()
  readonly #resolveClosed: () => void
  #started = 0
  #control: PoolControl | undefined
  #closing: Promise<void> | undefined
  /** Files are written one after the other, each with what is true then. */
  #announced: Promise<void> = Promise.resolve()

  constructor(options: PoolOptions) {
    this.#options = options
    this.#endpointsFile = options.endpointsFile === undefined ? undefined : resolve(options.endpointsFile)
    this.stateFile = this.#endpointsFile === undefined ? undefined : stateFileOf(this.#endpointsFile)
    const { promise, resolve: resolveClosed } = Promise.withResolvers<undefined>()
    this.closed = promise
    this.#resolveClosed = () => resolveClosed(undefined)
  }

  get controlUrl(): string {
    return this.#control?.url ?? ''
  }

  get endpoints(): readonly SimulatedEndpoint[] {
    return [...this.#endpoints.values()]
  }

  async open(): Promise<void> {
    const { decode = 0, prefill = 0, encode = 0, plain = 0, host, controlPort } = this.#options
    this.#control = await startControl(this, host ?? '127.0.0.1', controlPort ?? 0)
    const counts: readonly (readonly [Role, number])[] = [['decode', decode], ['prefill', prefill], ['encode', encode], ['', plain]]
    for (const [role, count] of counts) for (let i = 0; i < count; i++) await this.#start(role)
    await this.#announce()
  }

  state(): PoolState {
    const { model = 'sim-model', speed = 1 } = this.#options
    const endpoints = this.endpoints.map((endpoint) => ({ ...endpoint.state(), ...this.#member(endpoint) }))
    return {
      id: this.id,
      pid: process.pid,
      model,
      speed,
      running: endpoints.reduce((sum, { running }) => sum + running, 0),
      waiting: endpoints.reduce((sum, { waiting }) => sum + waiting, 0),
      endpoints,
    }
  }

  async add(role: Role, name?: string): Promise<PoolMember> {
    if (name !== undefined && this.#endpoints.has(name)) throw new RangeError(`there is already an endpoint \`${name}\``)
    const endpoint = await this.#start(role, name)
    await this.#announce()
    return this.#member(endpoint)
  }

  async remove(name: string): Promise<boolean> {
    const endpoint = this.#endpoints.get(name)
    if (endpoint === undefined) return false
    this.#endpoints.delete(name)
    await this.#announce()
    await endpoint.close()
    return true
  }

  async setFaults(name: string, faults: Partial<Faults>): Promise<void> {
    const endpoint = this.#endpoints.get(name)
    if (endpoint === undefined) throw new RangeError(`there is no endpoint \`${name}\``)
    await endpoint.setFaults(faults)
  }

  close(graceMs = 0): Promise<void> {
    this.#closing ??= this.#shut(graceMs)
    return this.#closing
  }

  async #shut(graceMs: number): Promise<void> {
    const endpoints = this.endpoints
    this.#endpoints.clear()
    await this.#announce()
    await Promise.all(endpoints.map((endpoint) => endpoint.close(graceMs)))
    await this.#control?.close()
    if (this.stateFile !== undefined) await rm(this.stateFile, { force: true })
    this.#resolveClosed()
  }

  async #start(role: Role, name?: string): Promise<SimulatedEndpoint> {
    const { portBase = 0, model, adapters, engine, host, speed, timing, kvEvents } = this.#options
    const number = this.#started++
    const endpoint = await startEndpoint({
      name: name ?? this.#freeName(role),
      role,
      port: portBase === 0 ? 0 : portBase + number,
      ...(model === undefined ? {} : { model }),
      ...(adapters === undefined ? {} : { adapters }),
      ...(engine === undefined ? {} : { engine }),
      ...(host === undefined ? {} : { host }),
      ...(speed === undefined ? {} : { speed }),
      ...(timing === undefined ? {} : { timing }),
      ...(kvEvents === undefined ? {} : { kvEvents: kvPorts(kvEvents, number) }),
    })
    this.#endpoints.set(endpoint.name, endpoint)
    return endpoint
  }

  #freeName(role: Role): string {
    const prefix = ROLE_NAMES[role] ?? role
    for (let i = 0; ; i++) if (!this.#endpoints.has(`${prefix}-${i}`)) return `${prefix}-${i}`
  }

  #member(endpoint: SimulatedEndpoint): PoolMember {
    const { namespace = 'default', engine = 'vllm', rolesets = 0 } = this.#options
    const { name, role, address, port, kvEvents } = endpoint
    const index = Number(/\d+$/.exec(name)?.[0] ?? 0)
    return { name, namespace, role, engine, address, port, labels: { ...rolesetLabels(role, index, rolesets, engine), ...kvLabels(kvEvents) } }
  }

  async #announce(): Promise<void> {
    this.#announced = this.#announced.then(() => this.#write())
    await this.#announced
  }

  async #write(): Promise<void> {
    if (this.#endpointsFile === undefined || this.stateFile === undefined) return
    const { model = 'sim-model', speed = 1 } = this.#options
    const endpoints = this.endpoints.map((endpoint) => this.#member(endpoint))
    const record: PoolRecord = {
      id: this.id, pid: process.pid, controlUrl: this.controlUrl, model, speed, endpointsFile: this.#endpointsFile, endpoints,
    }
    await replaceFile(this.stateFile, `${JSON.stringify(record, null, 2)}\n`)
    await replaceFile(this.#endpointsFile, endpointsDocument(endpoints))
  }
}
