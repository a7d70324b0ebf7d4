import { Command } from 'commander'
import { SignalboxError } from '../core/errors.ts'
import { exitOnUsage, httpUrl } from './arguments.ts'
import { EXIT, json, outcome } from './outcome.ts'
import { table } from './table.ts'

interface Flags {
  readonly admin: string
  readonly json?: boolean
}

/** What /endpoints tells of one endpoint. */
interface EndpointRow {
  readonly id: string
  readonly address: string
  readonly role: string
  readonly state: string
  readonly requests: number
  readonly waiting: number
  readonly running: number
  readonly kvCacheUsage: number
  readonly ageMs: number | null
}

/** `signalbox endpoint`: look at the fleet of a running engine, and drain. */
export const endpointCommand = (): Command => {
  const command = exitOnUsage(new Command('endpoint')).description('the endpoints of a running engine')
  exitOnUsage(command.command('list'))
    .description('list the endpoints with their state and load')
    .option('--admin <url>', 'admin address of the engine', httpUrl, 'http://127.0.0.1:9090')
    .option('--json', 'print JSON')
    .action((flags: Flags) => outcome(async () => {
      const { endpoints } = (await ask(flags, '/endpoints')) as { readonly endpoints: readonly EndpointRow[] }
      process.stdout.write(flags.json === true ? json(endpoints) : `${listText(endpoints)}\n`)
      return EXIT.right
    }))
  exitOnUsage(command.command('drain'))
    .description('send an endpoint nothing more; what it has goes on')
    .argument('<endpoint>', 'its id: namespace/name')
    .option('--admin <url>', 'admin address of the engine', httpUrl, 'http://127.0.0.1:9090')
    .option('--json', 'print JSON')
    .action((endpoint: string, flags: Flags) => outcome(async () => {
      const reply = await ask(flags, '/endpoints/drain', { endpoint })
      process.stdout.write(flags.json === true ? json(reply) : `${endpoint} is draining\n`)
      return EXIT.right
    }))
  return command
}

const ask = async ({ admin }: Flags, path: string, body?: unknown): Promise<unknown> => {
  let response: Response
  try {
    response = await fetch(new URL(path, admin), body === undefined ? {} : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  } catch {
    throw new SignalboxError('engine-unreachable', `nothing answers at ${admin}`)
  }
  const reply = (await response.json()) as { readonly error?: { readonly message: string } }
  if (!response.ok) throw new SignalboxError('usage', reply.error?.message ?? `${admin} answered ${response.status}`)
  return reply
}

const listText = (endpoints: readonly EndpointRow[]): string =>
  table(
    ['endpoint', 'address', 'role', 'state', 'in flight', 'waiting', 'running', 'kv use', 'metrics age'],
    endpoints.map(({ id, address, role, state, requests, waiting, running, kvCacheUsage, ageMs }) => [
      id, address, role, state, String(requests), String(waiting), String(running), `${Math.round(kvCacheUsage * 100)} %`, ageMs === null ? 'never heard' : `${ageMs} ms`,
    ]),
  )
