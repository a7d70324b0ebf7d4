import { Command, InvalidArgumentError, Option } from 'commander'
import { load } from '../app/load.ts'
import { blockNaming, startAgent } from '../app/nats/agent.ts'
import type { Agent } from '../app/nats/agent.ts'
import { addSettingsOptions, settingsFlags } from '../config/signalbox/options.ts'
import type { EngineHash } from '../core/hash/engine-keys.ts'
import { splitHostPort } from '../core/address.ts'
import { countFrom, exitOnUsage, httpUrl } from './arguments.ts'
import { EXIT, outcome } from './outcome.ts'

interface AgentFlags {
  readonly config?: readonly string[]
  readonly endpoint: string
  readonly address: { readonly host: string; readonly port: number }
  readonly engine: string
  readonly label?: ReadonlyMap<string, string>
  readonly metricsUrl?: string
  readonly interval: number
  readonly kvEvents?: string
  readonly kvReplay?: string
  readonly kvTopic: string
  readonly kvBlockTokens: number
  readonly kvHash: EngineHash
  readonly kvHashSeed: string
}

const SETTINGS = [
  'nats', 'natsCredsFile', 'natsNkeyFile', 'natsUser', 'natsPasswordFile', 'natsTokenFile', 'natsTlsCaFile', 'natsTlsCertFile',
  'natsTlsKeyFile', 'natsInboxPrefix', 'natsSubjectPrefix', 'pool', 'promptHashSecretFile',
] as const

/** `signalbox agent`: announces one model server and publishes its metrics. */
export const agentCommand = (): Command =>
  addSettingsOptions(exitOnUsage(new Command('agent'))
    .description('run beside a model server: announce it, publish its metrics on NATS, and tell what is in its cache')
    .requiredOption('--endpoint <namespace/name>', 'name of the endpoint', endpointName)
    .requiredOption('--address <host:port>', 'where requests reach it', hostPort)
    .option('--engine <type>', 'whose metric names it has: vllm, sglang, triton-tensorrt-llm, trtllm-serve', 'vllm')
    .option('--label <name=value>', 'a label of the endpoint, such as llm-d.ai/role=decode; may be given several times', label)
    .option('--metrics-url <url>', 'where its metrics are (default: /metrics at the address)', httpUrl)
    .option('--interval <ms>', 'milliseconds between two reads of the metrics', countFrom(50), 50)
    .option('--kv-events <address>', 'follow the KV events that the engine publishes on ZeroMQ here, such as tcp://127.0.0.1:5557, and tell what is in its cache', zmqAddress)
    .option('--kv-replay <address>', 'where the engine tells past KV events again', zmqAddress)
    .option('--kv-topic <prefix>', 'what the topics of its KV events begin with', 'kv@')
    .option('--kv-block-tokens <number>', 'tokens of a block, as the schedulers have it: blockSizeTokens', countFrom(1), 16)
    .addOption(new Option('--kv-hash <algorithm>', 'how blocks are named, as the schedulers have it: hashAlgorithm').choices(['cbor-fnv', 'xxh64']).default('cbor-fnv'))
    .option('--kv-hash-seed <text>', 'what block names begin with, as the schedulers have it: hashSeed', '')
    .option('--config <file>', 'SignalboxConfig documents; may be given several times', (value: string, before: readonly string[] = []) => [...before, value]), SETTINGS)
    .addHelpText('after', '\nSIGUSR1: drains the endpoint: no new requests come. SIGTERM or SIGINT: takes it out of the fleet and ends.')
    .action((flags: AgentFlags, command: Command) => outcome(async () => {
      const { settings } = await load({ files: flags.config ?? [], flags: settingsFlags(command.opts()), pluginModules: [], allowExperimental: false, endpoints: undefined })
      const { host, port } = flags.address
      const agent = await startAgent({
        broker: settings,
        endpoint: flags.endpoint,
        address: host, port,
        labels: flags.label ?? new Map<string, string>(),
        engine: flags.engine,
        metricsUrl: flags.metricsUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`,
        intervalMs: flags.interval,
        kv: flags.kvEvents === undefined ? undefined : {
          address: flags.kvEvents,
          replayAddress: flags.kvReplay,
          topicFilter: flags.kvTopic,
          naming: blockNaming(flags.kvHash, flags.kvBlockTokens, flags.kvHashSeed, settings),
        },
        log: (message) => process.stderr.write(`${message}\n`),
      })
      process.stdout.write(`announcing ${flags.endpoint} in pool ${settings.pool}\n`)
      await untilTold(agent)
      return EXIT.right
    }))

const untilTold = async (agent: Agent): Promise<void> => {
  process.on('SIGUSR1', () => void agent.drain())
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  await agent.close()
}

const zmqAddress = (text: string): string => {
  if (/^(tcp|ipc):\/\/\S+$/.test(text)) return text
  throw new InvalidArgumentError('it must be tcp://host:port or ipc://path')
}

const endpointName = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('it must not be empty')
  return text
}

const hostPort = (text: string): { readonly host: string; readonly port: number } => {
  const { host, port } = splitHostPort(text)
  if (host === '' || port === undefined || !/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) throw new InvalidArgumentError('it must be host:port')
  return { host, port: Number(port) }
}

const label = (text: string, before: ReadonlyMap<string, string> = new Map()): ReadonlyMap<string, string> => {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('it must be name=value')
  return new Map([...before, [text.slice(0, at), text.slice(at + 1)]])
}
