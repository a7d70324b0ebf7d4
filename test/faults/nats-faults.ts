import { once } from 'node:events'
import { connect } from 'node:net'
import { rowsOf } from '../integration/nats/engine-on-nats.ts'
import { emptyEndpointMetrics, encodeTelemetryReport, toBytes } from '../../src/wire/index.ts'
import { until } from './pool-under-load.ts'
import type { PoolUnderLoad } from './pool-under-load.ts'

/** How much of it there is. */
export interface FaultSize {
  /** Messages of 64 kB that a slow consumer does not read. */
  readonly noise: number
  /** Reports that come again. */
  readonly reports: number
  readonly flood: number
  /** Malformed messages of each kind. */
  readonly malformed: number
}

export interface Fault {
  readonly name: string
  inject(pool: PoolUnderLoad, size: FaultSize): Promise<void>
}

/** Ten minutes behind. */
const SLOW_CLOCK = 'data:text/javascript,const now = Date.now; Date.now = () => now() - 600000'

const api = (pool: PoolUnderLoad, request: string): Promise<unknown> => pool.connection.request(`$JS.API.${request}`, '{}', { timeout: 5000 })

export const FAULTS: readonly Fault[] = [
  {
    name: 'broker killed and restarted',
    inject: async ({ world: { server } }) => {
      await server.kill()
      await server.begin()
    },
  },
  {
    name: 'broker restarted without its data',
    inject: async ({ world: { server } }) => {
      await server.kill()
      server.forget()
      await server.begin()
    },
  },
  {
    name: 'replica cut off and back',
    inject: async ({ proxy, b, a }) => {
      const told = (line: string): number => b.lines.filter((each) => each.includes(line)).length
      const [away, back] = [told('NATS is away'), told('NATS is back')]
      proxy.cut()
      await until(() => Promise.resolve(told('NATS is away') > away))
      // The other takes all requests meanwhile.
      const { position } = a.host.actor.engine
      await until(() => Promise.resolve(a.host.actor.engine.position > position + 10))
      proxy.heal()
      await until(() => Promise.resolve(told('NATS is back') > back && b.host.link.state === 'live'))
    },
  },
  {
    name: 'slow consumer',
    inject: async ({ world: { server }, connection }, { noise }) => {
      const socket = connect(server.port, '127.0.0.1')
      await once(socket, 'data')
      socket.write('CONNECT {"verbose":false,"lang":"none","version":"1"}\r\nSUB > 1\r\nPING\r\n')
      await once(socket, 'data')
      // It reads no more: what it should get must not hold up the others.
      socket.pause()
      const closed = once(socket, 'close')
      socket.on('error', () => undefined)
      for (let n = 0; n < noise; n++) connection.publish('noise', new Uint8Array(65_536))
      await connection.flush()
      socket.resume()
      socket.end()
      await closed
    },
  },
  {
    name: 'streams purged and deleted',
    inject: async (pool) => {
      await api(pool, 'STREAM.PURGE.signalbox_default_load')
      await api(pool, 'STREAM.PURGE.signalbox_default_journal_a')
      await api(pool, 'STREAM.DELETE.signalbox_default_load')
      await api(pool, 'STREAM.DELETE.signalbox_default_journal_b')
      await api(pool, 'STREAM.DELETE.signalbox_default_requests')
      await api(pool, 'STREAM.DELETE.KV_signalbox_default_replicas')
    },
  },
  {
    name: 'reports delivered twice and out of order',
    inject: async ({ connection }, { reports }) => {
      const again: { readonly subject: string; readonly data: Uint8Array }[] = []
      const heard = connection.subscribe('signalbox.v1.default.request.>', { max: reports, callback: (_error, { subject, data }) => void again.push({ subject, data: data.slice() }) })
      await heard.closed
      for (const { subject, data } of again.reverse()) connection.publish(subject, data)
      if (again.length < reports) throw new Error('too few reports were heard')
      await connection.flush()
    },
  },
  {
    name: 'replica killed in mid-burst',
    inject: async (pool) => {
      const third = await pool.replicaProcess()
      const before = pool.connection.stats().inMsgs
      await until(() => Promise.resolve(pool.connection.stats().inMsgs > before))
      await third.kill()
    },
  },
  {
    name: 'two replicas with one name',
    inject: async ({ world }) => {
      const refused = await world.engine({ replica: 'a', journal: 'nats' }).then(() => undefined, (error: unknown) => error)
      if ((refused as { code?: string } | undefined)?.code !== 'replica-name-taken') throw new Error(`it was not refused: ${String(refused)}`)
    },
  },
  {
    name: 'agent with its clock ten minutes off',
    inject: async (pool) => {
      const { world, a } = pool
      const child = pool.spawn(['agent', '--pool', 'default', '--endpoint', 'default/late', '--address', '127.0.0.1:9', '--nats', world.server.url], 'ignore', '--import', SLOW_CLOCK)
      const ended = once(child, 'exit')
      await until(async () => (await rowsOf(a)).some(({ id }) => id === 'default/late'))
      child.kill('SIGTERM')
      await ended
      await until(async () => (await rowsOf(a)).every(({ id }) => id !== 'default/late'))
    },
  },
  {
    name: 'agent that floods',
    inject: async ({ connection, a }, { flood }) => {
      const { incarnation } = a.host.actor.engine.view.fleet.get('default/x')?.endpoint ?? { incarnation: '' }
      for (let sequence = 1; sequence <= flood; sequence++) {
        connection.publish('signalbox.v1.default.telemetry.=ZGVmYXVsdC94', toBytes(encodeTelemetryReport, { endpoint: 'default/x', incarnation, sequence, metrics: { ...emptyEndpointMetrics(), waitingQueueSize: sequence % 7 } }))
        if (sequence % 5000 === 0) await connection.flush()
      }
    },
  },
  {
    name: 'malformed messages by the thousand',
    inject: async ({ connection }, { malformed }) => {
      const subjects = ['schedule', 'telemetry.x', 'telemetry.=!', 'request.a.1', 'request.b.999', 'load.a', 'load.zz'].map((rest) => `signalbox.v1.default.${rest}`)
      for (let n = 0; n < malformed; n++) {
        for (const subject of [...subjects, '$KV.signalbox_default_endpoints.x', '$KV.signalbox_default_replicas.zz']) connection.publish(subject, Buffer.from(`rubbish ${n} \u0000\xff`))
        if (n % 500 === 0) await connection.flush()
      }
      await connection.flush()
    },
  },
]
