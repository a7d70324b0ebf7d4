import { Command, Option } from 'commander'
import { ENGINES, findPool, startPool, stateFileOf } from '../simulation/index.ts'
import type { EndpointTiming, Engine, Pool } from '../simulation/index.ts'
import { commaList, countFrom, exitOnUsage, numberAbove } from './arguments.ts'
import { timingFlag, TIMING_NAMES } from './timing-flag.ts'

interface SimulateFlags {
  readonly decode: number
  readonly prefill: number
  readonly encode: number
  readonly plain: number
  readonly model: string
  readonly adapters?: readonly string[]
  readonly engine: Engine
  readonly speed: number
  readonly timing?: Partial<EndpointTiming>
  readonly host: string
  readonly portBase: number
  readonly controlPort: number
  readonly namespace: string
  readonly rolesets: number
  readonly kvEvents?: number
  readonly endpointsFile?: string
  readonly json?: boolean
}

/** Requests in flight have this long to end after SIGTERM, ms. */
const STOP_GRACE_MS = 5_000

/** `signalbox simulate`: a pool of simulated endpoints in this process, until it is told to stop. */
export function simulateCommand(): Command {
  return exitOnUsage(new Command('simulate'))
    .description('run simulated model servers on real ports and announce them in an endpoints file')
    .option('--decode <count>', 'endpoints that decode', countFrom(0), 4)
    .option('--prefill <count>', 'endpoints that prefill', countFrom(0), 2)
    .option('--encode <count>', 'endpoints that encode', countFrom(0), 1)
    .option('--plain <count>', 'endpoints without a role', countFrom(0), 0)
    .option('--model <name>', 'the model they serve', 'sim-model')
    .option('--adapters <names>', 'further model names, each an adapter', commaList)
    .addOption(new Option('--engine <name>', 'whose metric names they show').choices(ENGINES).default('vllm'))
    .option('--speed <factor>', 'divides all times', numberAbove(0), 1)
    .option('--timing <name=value>', `changes the timing model; repeatable (${TIMING_NAMES})`, timingFlag)
    .option('--host <address>', 'where they listen', '127.0.0.1')
    .option('--port-base <port>', 'first port of the endpoints; 0 takes free ports', countFrom(0, 65_535), 0)
    .option('--control-port <port>', 'port of the control routes; 0 takes a free one', countFrom(0, 65_535), 0)
    .option('--namespace <name>', 'namespace in the endpoints file', 'default')
    .option('--rolesets <count>', "rolesets that prefill and decode endpoints are paired in, by AIBrix's labels; 0: none", countFrom(0), 0)
    .addOption(new Option('--kv-events [port]', 'they publish KV events on ZeroMQ and replay them, two ports each from this one on; 0 takes free ones; labels in the endpoints file tell').argParser(countFrom(0, 65_535)).preset('0'))
    .option('--endpoints-file <path>', 'where the endpoints file goes; the state file lies beside it')
    .option('--json', 'print the ready line as JSON')
    .action(async (flags: SimulateFlags) => {
      process.exitCode = await simulate(flags)
    })
}

async function simulate(flags: SimulateFlags): Promise<number> {
  if (flags.endpointsFile !== undefined) {
    const living = await findPool(stateFileOf(flags.endpointsFile))
    if (living !== undefined) {
      process.stderr.write(
        `signalbox simulate: a pool already announces itself in ${flags.endpointsFile} (process ${living.pid}); ` +
        `stop it with: curl -X POST ${living.controlUrl}/pool/stop\n`)
      return 1
    }
  }
  let pool: Pool
  try {
    pool = await startPool(flags)
  } catch (error) {
    process.stderr.write(`signalbox simulate: ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
  const stop = (): void => void pool.close(STOP_GRACE_MS)
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // Whoever launched it may be gone by now, and its end of the pipe with it.
  process.stdout.on('error', () => undefined)
  process.stdout.write(readyLine(pool, flags))
  if (process.send !== undefined) process.send({ ready: pool.id }, () => process.disconnect())
  await pool.closed
  process.off('SIGTERM', stop)
  process.off('SIGINT', stop)
  return 0
}

function readyLine(pool: Pool, flags: SimulateFlags): string {
  const { id, controlUrl, stateFile, endpoints } = pool
  if (flags.json === true) {
    const urls = endpoints.map(({ name, role, url }) => ({ name, role, url }))
    return `${JSON.stringify({ ready: true, id, pid: process.pid, controlUrl, stateFile: stateFile ?? null, endpoints: urls })}\n`
  }
  const counts = `${flags.decode} decode, ${flags.prefill} prefill, ${flags.encode} encode, ${flags.plain} plain`
  const file = flags.endpointsFile === undefined ? endpoints.map(({ url }) => url).join(' ') : flags.endpointsFile
  return `ready: ${counts} at speed ${flags.speed}; control ${controlUrl}; endpoints ${file}\n`
}
