import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import { afterEach, describe, expect, it } from 'vitest'
import { SignalboxError } from '../../../src/core/errors.ts'
import { freePort } from '../../story/listening.ts'
import { NatsServer } from './nats-server.ts'

describe('connecting to NATS', () => {
  let server: NatsServer | undefined

  afterEach(async () => {
    await server?.stop()
    server = undefined
  })

  const secret = (from: NatsServer, text: string): string => {
    const path = join(from.folder, `secret-${text.length}`)
    writeFileSync(path, `${text}\n`)
    return path
  }

  it('given no server, when connecting, then the error names the address and the fix', async () => {
    const port = await freePort()
    const { NatsLink } = await import('../../../src/adapters/nats/connection.ts')
    await expect(NatsLink.open({ servers: `nats://127.0.0.1:${port}`, name: 'test' })).rejects.toMatchObject({ code: 'nats-connect' })
  })

  it('given a password in the URL, when connecting, then it is refused and not repeated', async () => {
    const { NatsLink } = await import('../../../src/adapters/nats/connection.ts')
    const refused = await NatsLink.open({ servers: 'nats://u:hush@127.0.0.1:1', name: 'test' }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SignalboxError)
    expect(String(refused)).not.toContain('hush')
  })

  it('given a user and a password file, then only the right one comes in, and the error does not bear it', async () => {
    server = await NatsServer.start('authorization { user: u, password: "sesame-1" }')
    const right = await server.link({ user: 'u', passwordFile: secret(server, 'sesame-1') })
    expect(right.connected).toBe(true)
    const wrong = await server.link({ user: 'u', passwordFile: secret(server, 'sesame-wrong') }).catch((error: unknown) => error)
    expect(wrong).toMatchObject({ code: 'nats-connect' })
    expect(String(wrong)).not.toContain('sesame')
  })

  it('given a token file, then it comes in', async () => {
    server = await NatsServer.start('authorization { token: "t0ken" }')
    const link = await server.link({ tokenFile: secret(server, 't0ken') })
    expect(link.features.version).toMatch(/^2\./)
  })

  it('given an nkey seed file, then it comes in', async () => {
    const key = nkeys.createUser()
    server = await NatsServer.start(`authorization { users: [ { nkey: ${key.getPublicKey()} } ] }`)
    const link = await server.link({ nkeyFile: secret(server, new TextDecoder().decode(key.getSeed())) })
    expect(link.connected).toBe(true)
  })

  it('given the server is killed and started again, then the link comes back by itself', async () => {
    server = await NatsServer.start()
    const told: string[] = []
    let up = (): void => undefined
    const back = new Promise<void>((resolve) => (up = resolve))
    let down = (): void => undefined
    const gone = new Promise<void>((resolve) => (down = resolve))
    const link = await server.link({}, {
      down: () => {
        told.push('down')
        down()
      },
      up: () => {
        told.push('up')
        up()
      },
    })
    await server.kill()
    await gone
    expect(link.connected).toBe(false)
    await server.begin()
    await back
    expect(link.connected).toBe(true)
    expect(told).toEqual(['down', 'up'])
  })
})
