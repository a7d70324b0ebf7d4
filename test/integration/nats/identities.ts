import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'

type KeyPair = ReturnType<typeof nkeys.createUser>

/** Claims as NATS signs them: a JWT with the algorithm ed25519-nkey. */
const signed = (by: KeyPair, subject: KeyPair, name: string, nats: object): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iat: 1_700_000_000, iss: by.getPublicKey(), name, sub: subject.getPublicKey(), nats: { ...nats, version: 2 } }
  const jti = createHash('sha256').update(JSON.stringify(claims)).digest('hex')
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part({ jti, ...claims })}`
  return `${text}.${Buffer.from(by.sign(new TextEncoder().encode(text))).toString('base64url')}`
}

const seedOf = (pair: KeyPair): string => new TextDecoder().decode(pair.getSeed())
const NO_LIMITS = { subs: -1, data: -1, payload: -1, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

/** An operator with an account in it, for a server that knows users by what their account signed. */
export class Operator {
  private readonly operator = nkeys.createOperator()
  private readonly account = nkeys.createAccount()
  private readonly system = nkeys.createAccount()

  /** For the server's file. */
  get configuration(): string {
    const accounts = [this.account, this.system].map((each) => {
      const limits = each === this.account ? NO_LIMITS : { ...NO_LIMITS, mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 }
      return `${each.getPublicKey()}: ${signed(this.operator, each, 'account', { type: 'account', limits })}`
    })
    return [
      `operator: ${signed(this.operator, this.operator, 'operator', { type: 'operator' })}`,
      `system_account: ${this.system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${accounts.join('\n')} }`,
    ].join('\n')
  }

  /** A user of the account, as the text of a credentials file, and what is secret in it. */
  user(): { readonly file: string; readonly secrets: readonly string[] } {
    const user = nkeys.createUser()
    const jwt = signed(this.account, user, 'user', { type: 'user', pub: {}, sub: {}, subs: -1, data: -1, payload: -1 })
    const block = (kind: string, text: string): string => `-----BEGIN ${kind}-----\n${text}\n------END ${kind}------\n`
    return { file: `${block('NATS USER JWT', jwt)}\n${block('USER NKEY SEED', seedOf(user))}`, secrets: [jwt, seedOf(user)] }
  }
}

/** A user that a server knows by its public key, and its seed. */
export const keyedUser = (): { readonly publicKey: string; readonly seed: string } => {
  const user = nkeys.createUser()
  return { publicKey: user.getPublicKey(), seed: seedOf(user) }
}

/** A certificate authority in a folder. */
export class Authority {
  private readonly folder: string
  private readonly name: string

  constructor(folder: string, name: string) {
    this.folder = folder
    this.name = name
    this.openssl('req', '-x509', ...NEW_KEY, '-keyout', this.path('key'), '-out', this.path('pem'), '-days', '2', '-subj', `/CN=${name}`)
  }

  /** Its own certificate. */
  get file(): string {
    return this.path('pem')
  }

  /** A certificate that it signed, for names such as "IP:127.0.0.1", and its key. */
  certify(name: string, alternatives: string): { readonly certFile: string; readonly keyFile: string } {
    const [request, extension, certFile, keyFile] = ['csr', 'ext', 'pem', 'key'].map((end) => join(this.folder, `${this.name}-${name}.${end}`)) as [string, string, string, string]
    this.openssl('req', ...NEW_KEY, '-keyout', keyFile, '-out', request, '-subj', `/CN=${name}`)
    writeFileSync(extension, `subjectAltName=${alternatives}\n`)
    this.openssl('x509', '-req', '-in', request, '-CA', this.file, '-CAkey', this.path('key'), '-CAcreateserial', '-days', '2', '-extfile', extension, '-out', certFile)
    return { certFile, keyFile }
  }

  private path(end: string): string {
    return join(this.folder, `${this.name}.${end}`)
  }

  private openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' })
  }
}

/** For the server's file. */
export const tlsOf = ({ certFile, keyFile }: { readonly certFile: string; readonly keyFile: string }, more: string = ''): string => `tls { cert_file: "${certFile}", key_file: "${keyFile}"${more} }`

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'] as const
