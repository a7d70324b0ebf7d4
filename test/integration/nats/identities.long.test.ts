import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../story/server.ts'
import { chatRequest, NatsWorld, rowsOf } from './engine-on-nats.ts'
import { Authority, Operator, tlsOf } from './identities.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

const WAIT = { timeout: 15_000, interval: 50 }

describe('an engine with credentials over TLS', () => {
  it('given requests, its journal in JetStream and its agent, then all of them come in, and no secret is in log or journal', async () => {
    const own = new Authority(folder.path, 'own')
    const operator = new Operator()
    const world = await NatsWorld.start(`${operator.configuration}\n${tlsOf(own.certify('world', 'IP:127.0.0.1'), `, ca_file: "${own.file}", verify: true`)}`)
    try {
      const { certFile, keyFile } = own.certify('pool', 'DNS:pool')
      const user = operator.user()
      const credentials = join(folder.path, 'user.creds')
      writeFileSync(credentials, user.file)
      const flags = { 'nats-creds-file': credentials, 'nats-tls-ca-file': own.file, 'nats-tls-cert-file': certFile, 'nats-tls-key-file': keyFile }
      const engine = await world.engine({ ...flags, journal: 'nats' })
      await world.agent('default/a', undefined, flags)
      await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
      const client = await world.client({}, { credsFile: credentials, tlsCaFile: own.file, tlsCertFile: certFile, tlsKeyFile: keyFile })
      await (await client.schedule(chatRequest())).ended({ cause: 'natural', status: 200 })
      await expect.poll(() => engine.host.link.state, WAIT).toBe('live')
      await engine.close()
      const written = `${engine.lines.join('\n')}\n${readFileSync(join(engine.folder, 'journal.sqlite')).toString('latin1')}`
      for (const secret of [...user.secrets, ...readFileSync(keyFile, 'utf8').split('\n').filter((line) => line.length > 20 && !line.startsWith('-'))]) expect(written).not.toContain(secret)
    } finally {
      await world.close()
    }
  })
})
