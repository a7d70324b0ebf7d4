import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { NatsLink } from '../../../src/adapters/nats/connection.ts'
import type { NatsOptions } from '../../../src/adapters/nats/connection.ts'
import { listening } from '../../story/listening.ts'
import { temporaryFolder } from '../../story/server.ts'
import { Authority, keyedUser, Operator, tlsOf } from './identities.ts'
import { NatsServer } from './nats-server.ts'

const folder = temporaryFolder()
let files = 0
let own: Authority
let server: NatsServer | undefined

const inFile = (text: string): string => {
  const path = join(folder.path, `secret-${(files += 1)}`)
  writeFileSync(path, `${text}\n`)
  return path
}

/** What comes of connecting: "in", or the text of the refusal. */
const outcome = async (options: Partial<NatsOptions>): Promise<string> => {
  try {
    const link = await NatsLink.open({ servers: server?.url ?? '', name: 'test', ...options })
    await link.close()
    return 'in'
  } catch (error) {
    expect(error).toMatchObject({ code: 'nats-connect' })
    return String(error)
  }
}

const tlsUrl = (): string => (server as NatsServer).url.replace('nats://', 'tls://')

beforeAll(() => {
  own = new Authority(folder.path, 'own')
})
afterEach(async () => {
  await server?.stop()
  server = undefined
})
afterAll(() => folder.remove())

describe('who may come in', () => {
  it('given a token, an NKEY or a user that is not the right one, then it is refused, and no error repeats it', async () => {
    const [right, wrong] = [keyedUser(), keyedUser()]
    server = await NatsServer.start('authorization { token: "the-right-token" }')
    expect(await outcome({ tokenFile: inFile('the-right-token') })).toBe('in')
    expect(await outcome({ tokenFile: inFile('a-wrong-token') })).not.toMatch(/token-|-token|in$/)
    expect(await outcome({})).toMatch(/authorization/i)
    await server.stop()
    server = await NatsServer.start(`authorization { users: [ { nkey: ${right.publicKey} }, { user: u, password: "sesame-1" } ] }`)
    expect(await outcome({ nkeyFile: inFile(right.seed) })).toBe('in')
    expect(await outcome({ nkeyFile: inFile(wrong.seed) })).not.toContain(wrong.seed)
    expect(await outcome({ user: 'u', passwordFile: inFile('sesame-1') })).toBe('in')
    expect(await outcome({ user: 'u', passwordFile: inFile('sesame-2') })).not.toMatch(/sesame|^in$/)
    expect(await outcome({ user: 'v', passwordFile: inFile('sesame-1') })).not.toMatch(/sesame|^in$/)
    expect(await outcome({ nkeyFile: inFile('no seed at all') })).not.toMatch(/no seed at all|^in$/)
  })

  it('given credentials of an account that the server knows, then they come in; of another operator they do not', async () => {
    const [known, other] = [new Operator(), new Operator()]
    server = await NatsServer.start(known.configuration)
    expect(await outcome({ credsFile: inFile(known.user().file) })).toBe('in')
    const stranger = other.user()
    const refusal = await outcome({ credsFile: inFile(stranger.file) })
    expect(refusal).toMatch(/authorization/i)
    for (const secret of stranger.secrets) expect(refusal).not.toContain(secret)
    expect(await outcome({ credsFile: inFile('not credentials') })).not.toMatch(/^in$/)
    expect(await outcome({})).toMatch(/authorization/i)
  })
})

describe('TLS', () => {
  it('given a server, then only one whose certificate our authority signed, for that address, is spoken to', async () => {
    server = await NatsServer.start(tlsOf(own.certify('server', 'IP:127.0.0.1')))
    expect(await outcome({ servers: tlsUrl(), tlsCaFile: own.file })).toBe('in')
    expect(await outcome({ tlsCaFile: own.file })).toBe('in')
    expect(await outcome({ servers: tlsUrl(), tlsCaFile: new Authority(folder.path, 'stranger').file })).toMatch(/certificate|signature|self.signed/i)
    expect(await outcome({ servers: tlsUrl() })).toMatch(/certificate|self.signed/i)
    await server.stop()
    server = await NatsServer.start(tlsOf(own.certify('elsewhere', 'DNS:elsewhere.example')))
    expect(await outcome({ servers: tlsUrl(), tlsCaFile: own.file })).toMatch(/altnames|hostname|IP/i)
  })

  it('given a server that asks for certificates, then only who has one comes in', async () => {
    server = await NatsServer.start(tlsOf(own.certify('asking', 'IP:127.0.0.1'), `, ca_file: "${own.file}", verify: true`))
    const { certFile, keyFile } = own.certify('engine', 'DNS:engine')
    expect(await outcome({ tlsCaFile: own.file, tlsCertFile: certFile, tlsKeyFile: keyFile })).toBe('in')
    const { certFile: forged, keyFile: forgedKey } = new Authority(folder.path, 'forger').certify('engine', 'DNS:engine')
    const refusals = await Promise.all([{}, { tlsCertFile: forged, tlsKeyFile: forgedKey }].map((more) => outcome({ tlsCaFile: own.file, timeoutMs: 500, ...more })))
    for (const refusal of refusals) expect(refusal).toMatch(/certificate/)
  })

  it('given tls:// and a server without TLS, then nothing secret is sent', async () => {
    const heard: Buffer[] = []
    const plain = createServer((socket: Socket) => {
      socket.on('data', (chunk) => heard.push(chunk))
      socket.on('error', () => undefined)
      socket.write('INFO {"server_id":"x","version":"2.9.10","proto":1,"max_payload":1048576,"headers":true}\r\n')
    })
    const servers = `tls://127.0.0.1:${await listening(plain)}`
    expect(await outcome({ servers, user: 'u', passwordFile: inFile('open-sesame') })).toMatch(/tls/i)
    expect(Buffer.concat(heard).toString()).toBe('')
    plain.close()
  })
})
