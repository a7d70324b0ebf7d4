import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PermissionViolationError } from '@nats-io/nats-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openJournalAt } from '../../../src/app/journal-place.ts'
import { SchedulerClient } from '../../../src/client/index.ts'
import { verify } from '../../../src/journal/index.ts'
import { runToEnd } from '../../unit/journal/sealed-journal.ts'
import { chatRequest, NatsWorld, rowsOf } from './engine-on-nats.ts'
import { preciseConfiguration } from './precise.ts'

const WAIT = { timeout: 15_000, interval: 50 }
const DEPLOY = fileURLToPath(new URL('../../../deploy/nats/', import.meta.url))
const ROLES = ['agent', 'data-plane', 'observer', 'scheduler'] as const
type Role = (typeof ROLES)[number]

const secretOf = (role: Role): string => `the-secret-of-${role}`
const ENVIRONMENT = Object.fromEntries(ROLES.map((role) => [`SIGNALBOX_${role.toUpperCase().replace('-', '_')}_PASSWORD`, secretOf(role)]))

describe('the permissions of deploy/nats', { timeout: 90_000 }, () => {
  let world: NatsWorld
  const flagsOf = (role: Role): Record<string, string> => {
    const file = join(world.server.folder, `${role}.password`)
    writeFileSync(file, secretOf(role))
    return { 'nats-user': role, 'nats-password-file': file, 'nats-inbox-prefix': `_INBOX_${role.replace('-', '_')}` }
  }
  const linkOf = async (role: Role) => {
    const flags = flagsOf(role)
    return world.server.link({ user: role, passwordFile: flags['nats-password-file'], inboxPrefix: flags['nats-inbox-prefix'] as string })
  }

  let engine: Awaited<ReturnType<NatsWorld['engine']>>

  beforeAll(async () => {
    world = await NatsWorld.start(readFileSync(join(DEPLOY, 'permissions.conf'), 'utf8'), ENVIRONMENT)
    const nowhere = 'http://127.0.0.1:9'
    engine = await world.engine({ ...flagsOf('scheduler'), journal: 'nats' }, undefined, preciseConfiguration(world.server.folder, nowhere))
    await world.agent('default/a', { address: '127.0.0.1', port: 9, kvEvents: { port: 9, replayPort: 9 } }, flagsOf('agent'))
  }, 60_000)
  afterAll(() => world.close())

  it('given each role has what it needs, then a request goes its whole way, and the journal is in JetStream', async () => {
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    const { connection } = await linkOf('data-plane')
    const client = new SchedulerClient(connection, { pool: 'default', inboxPrefix: '_INBOX_data_plane' })
    const request = await client.schedule(chatRequest())
    await request.sent()
    await expect(request.failed('connect', 0, true)).rejects.toMatchObject({ name: 'RequestRefused' })
    await (await client.schedule(chatRequest())).ended({ cause: 'natural', status: 200 })
    await expect.poll(() => engine.host.actor.engine.view.requests.size, WAIT).toBe(0)
    expect(engine.host.link.state).toBe('live')
    await expect.poll(async () => (await fetch(`${engine.adminUrl}/metrics`)).text(), WAIT).toContain('\nsignalbox_kv_events_waiting_endpoints 0\n')
    expect(engine.lines.filter((line) => /permission/i.test(line))).toEqual([])
  })

  it.each([
    ['agent', 'signalbox.v1.default.schedule'],
    ['agent', 'signalbox.v1.default.request.replica-0.1'],
    ['agent', 'signalbox.v1.default.load.replica-0'],
    ['agent', '$KV.signalbox_default_replicas.replica-0'],
    ['agent', '$JS.API.STREAM.DELETE.KV_signalbox_default_endpoints'],
    ['agent', 'signalbox.v1.other.telemetry.a'],
    ['agent', 'signalbox.v1.other.kv.a'],
    ['agent', 'signalbox.v1.default.kv-wanted.a'],
    ['data-plane', 'signalbox.v1.default.telemetry.a'],
    ['data-plane', 'signalbox.v1.default.kv.a'],
    ['data-plane', '$KV.signalbox_default_endpoints.a'],
    ['data-plane', 'signalbox.v1.default.load.replica-0'],
    ['data-plane', 'signalbox.v1.default.journal.replica-0'],
    ['data-plane', '$JS.API.STREAM.PURGE.signalbox_default_requests'],
    ['observer', 'signalbox.v1.default.schedule'],
    ['observer', 'signalbox.v1.default.telemetry.a'],
    ['observer', 'signalbox.v1.default.kv-wanted.a'],
    ['observer', '$KV.signalbox_default_endpoints.a'],
    ['observer', '$JS.API.STREAM.DELETE.signalbox_default_journal_replica-0'],
    ['observer', '$JS.API.DIRECT.GET.signalbox_default_journal_replica-0'],
    ['observer', '$JS.API.CONSUMER.CREATE.signalbox_default_journal_replica-0'],
    ['agent', '$JS.API.DIRECT.GET.signalbox_default_journal_replica-0'],
    ['data-plane', '$JS.API.STREAM.INFO.signalbox_default_load'],
    ['scheduler', '$JS.API.STREAM.DELETE.KV_signalbox_default_endpoints'],
    ['scheduler', '$JS.API.STREAM.PURGE.signalbox_default_requests'],
    ['scheduler', '$JS.API.STREAM.UPDATE.signalbox_default_load'],
    ['scheduler', '$JS.API.STREAM.DELETE.signalbox_default_kv'],
    ['scheduler', 'signalbox.v1.other.load.replica-0'],
    ['scheduler', '$KV.signalbox_other_replicas.replica-0'],
    ['scheduler', 'signalbox.v1.default.telemetry.a'],
    ['scheduler', 'signalbox.v1.default.kv.a'],
    ['scheduler', '$KV.signalbox_default_endpoints.a'],
    ['scheduler', 'signalbox.v1.default.request.replica-0.1'],
  ] as const)('refuses that %s publishes to %s', async (role, subject) => {
    const { connection } = await linkOf(role)
    const violation = new Promise<unknown>((resolve) => {
      void (async () => {
        for await (const status of connection.status()) if (status.type === 'error') return resolve(status.error)
      })()
    })
    connection.publish(subject, 'x')
    expect(await violation).toBeInstanceOf(PermissionViolationError)
  })

  it.each([
    ['agent', 'signalbox.v1.default.telemetry.*'],
    ['agent', 'signalbox.v1.default.kv.*'],
    ['agent', '_INBOX_scheduler.>'],
    ['data-plane', 'signalbox.v1.default.schedule'],
    ['data-plane', '_INBOX_agent.>'],
    ['observer', 'signalbox.v1.default.journal.*'],
    ['observer', 'signalbox.v1.default.request.>'],
    ['observer', 'signalbox.v1.default.kv.*'],
    ['observer', '_INBOX_data_plane.>'],
    ['scheduler', '_INBOX_data_plane.>'],
  ] as const)('refuses that %s listens to %s', async (role, subject) => {
    const { connection } = await linkOf(role)
    const error = await new Promise((resolve) => connection.subscribe(subject, { callback: (refusal) => resolve(refusal) }))
    expect(error).toBeInstanceOf(PermissionViolationError)
  })

  it('given the observer, then it finds services and streams', async () => {
    const { connection } = await linkOf('observer')
    expect((await connection.request('$SRV.PING.signalbox')).json<{ name: string }>().name).toBe('signalbox')
    expect((await connection.request('$JS.API.STREAM.INFO.signalbox_default_load')).json<{ config: { name: string } }>().config.name).toBe('signalbox_default_load')
  })

  it('given the journal in JetStream, then who may read it reads it from there', async () => {
    const { 'nats-user': natsUser, 'nats-password-file': natsPasswordFile, 'nats-inbox-prefix': natsInboxPrefix } = flagsOf('scheduler') as Record<'nats-user' | 'nats-password-file' | 'nats-inbox-prefix', string>
    await expect.poll(() => engine.host.journal.link.lag().records, WAIT).toBeLessThan(100)
    const reader = openJournalAt(`${world.server.url}/default/replica-0`, { natsUser, natsPasswordFile, natsInboxPrefix })
    expect(runToEnd(verify(reader)).records).toBeGreaterThan(0)
    reader.close()
  })

  it('given all that happened, then no secret is in the log or the journal', async () => {
    await engine.close()
    const written = [engine.lines.join('\n'), readFileSync(join(engine.folder, 'journal.sqlite')).toString('latin1')].join('\n')
    for (const role of ROLES) expect(written).not.toContain(secretOf(role))
  })

  it('given the server configuration, then nats-server takes it', () => {
    const { status, stderr } = spawnSync('nats-server', ['-t', '-c', join(DEPLOY, 'nats-server.conf')], { env: { ...process.env, ...ENVIRONMENT }, encoding: 'utf8' })
    expect(stderr).toContain('is valid')
    expect(status).toBe(0)
  })
})
