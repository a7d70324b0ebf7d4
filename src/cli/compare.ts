import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, relative } from 'node:path'
import { Command, Option } from 'commander'
import { headOf, markdownTable, plotOf, replaceBetweenMarks, rowsOf, runPolicy, shippedPolicies, workloadOf } from '../app/comparison/index.ts'
import type { NamedFile, PolicyFigures, Workload } from '../app/comparison/index.ts'
import { load } from '../app/load.ts'
import { SignalboxError } from '../core/errors.ts'
import { ENGINES, readTrace, TRACE_FORMATS, TraceError } from '../simulation/index.ts'
import type { EndpointTiming, Engine, TraceFormat, TraceRequest } from '../simulation/index.ts'
import { countFrom, exitOnUsage, numberAbove } from './arguments.ts'
import { EXIT, outcome } from './outcome.ts'
import { Progress } from './progress.ts'
import { table } from './table.ts'
import { timingFlag, TIMING_NAMES } from './timing-flag.ts'

interface Flags {
  readonly trace: string
  readonly config?: readonly NamedFile[]
  readonly plugins?: readonly string[]
  readonly allowExperimentalPlugins?: boolean
  readonly format?: TraceFormat
  readonly speed: number
  readonly limit: number
  readonly offset: number
  readonly maxOutput: number
  readonly prefill: number
  readonly decode: number
  readonly rolesets: number
  readonly engine: Engine
  readonly timing?: Partial<EndpointTiming>
  readonly seed: number
  readonly plot?: string
  readonly markdown?: string
  readonly json?: boolean
}

const named = (value: string, before: readonly NamedFile[] = []): readonly NamedFile[] => {
  const at = value.indexOf('=')
  const file = value.slice(at + 1)
  return [...before, { name: at > 0 ? value.slice(0, at) : basename(file, extname(file)), file }]
}

/** `signalbox compare`: how would these configurations serve this trace? */
export const compareCommand = (): Command =>
  exitOnUsage(new Command('compare'))
    .description('play a trace on one simulated fleet under several configurations, in virtual time, and set the outcomes side by side')
    .requiredOption('--trace <file>', 'the trace')
    .option('--config <[name=]file>', 'a configuration to compare; repeatable (default: those of llm-d and AIBrix in deploy/config/policies)', named)
    .option('--plugins <module>', 'a module of your own that exports pluginTypes; repeatable', (module: string, before: readonly string[] = []) => [...before, module])
    .option('--allow-experimental-plugins', 'allow plugin types that are alpha')
    .addOption(new Option('--format <name>', 'format of the trace (default: found in its first line)').choices(TRACE_FORMATS))
    .option('--speed <factor>', 'divides the arrival times, not those of the endpoints', numberAbove(0), 1)
    .option('--limit <count>', 'play at most so many requests', countFrom(1), Number.MAX_SAFE_INTEGER)
    .option('--offset <count>', 'leave out so many at the start of the trace', countFrom(0), 0)
    .option('--max-output <tokens>', 'cut outputs to so many tokens', countFrom(1), Number.MAX_SAFE_INTEGER)
    .option('--prefill <count>', 'endpoints that prefill', countFrom(0), 4)
    .option('--decode <count>', 'endpoints that decode', countFrom(1), 4)
    .option('--rolesets <count>', "rolesets that they are paired in, by AIBrix's labels", countFrom(0), 2)
    .addOption(new Option('--engine <name>', 'whose metrics they show').choices(ENGINES).default('vllm'))
    .option('--timing <name=value>', `changes the timing model of the endpoints; repeatable (${TIMING_NAMES})`, timingFlag)
    .option('--seed <number>', 'seed of every tie and draw', countFrom(0), 7)
    .option('--plot <file>', 'draw the outcomes into this SVG file')
    .option('--markdown <file>', 'put them, with the plot, between the comparison marks of this document')
    .option('--json', 'print the figures as JSON')
    .addHelpText('after', '\nNothing listens and nothing waits: the same command gives the same figures. Exit code: 0 every request was served, 1 some were not, 2 wrong usage.')
    .action((flags: Flags) => outcome(() => compare(flags)))

const compare = async (flags: Flags): Promise<number> => {
  const files = flags.config ?? shippedPolicies()
  const document = flags.markdown === undefined ? undefined : { file: flags.markdown, text: read(flags.markdown) }
  if (document !== undefined) replaceBetweenMarks(document.text, '', document.file)
  if (flags.plot !== undefined && !existsSync(dirname(flags.plot))) throw new SignalboxError('usage', 'there is no such folder to draw into', { file: flags.plot })
  // Every configuration is checked before the first is played.
  const policies = []
  for (const { name, file } of files) {
    policies.push({ name, loaded: await load({ files: [file], flags: new Map(), pluginModules: flags.plugins ?? [], allowExperimental: flags.allowExperimentalPlugins ?? false, endpoints: undefined }) })
  }
  const workload = await workloadFrom(flags)
  const figures: PolicyFigures[] = []
  for (const policy of policies) {
    const progress = new Progress(policy.name, workload.requests.length, 'requests')
    figures.push(runPolicy(policy, workload, { ...flags, timing: flags.timing ?? {} }, BigInt(flags.seed), (done) => progress.at(done)))
    progress.end()
  }
  figures.sort((a, b) => (a.firstTokenMs.p90 ?? Infinity) - (b.firstTokenMs.p90 ?? Infinity))
  write(flags, document, figures, workload)
  return figures.every(({ completed, requests }) => completed === requests) ? EXIT.right : EXIT.found
}

const workloadFrom = async (flags: Flags): Promise<Workload> => {
  const trace: TraceRequest[] = []
  try {
    for await (const request of readTrace(flags.trace, flags.format)) {
      if (trace.length >= flags.limit) break
      if (request.index >= flags.offset) trace.push(request)
    }
  } catch (error) {
    throw error instanceof TraceError ? new SignalboxError('usage', error.message) : error
  }
  if (trace.length === 0) throw new SignalboxError('usage', `--offset ${flags.offset} leaves no request of the trace`, { file: flags.trace })
  const progress = new Progress('prompts', trace.length, 'requests')
  const workload = workloadOf(trace, { ...flags, timing: flags.timing ?? {} }, (done) => progress.at(done))
  progress.end()
  return workload
}

const write = (flags: Flags, document: { readonly file: string; readonly text: string } | undefined, figures: readonly PolicyFigures[], workload: Workload): void => {
  const caption = captionOf(flags, workload)
  if (flags.plot !== undefined) writeTo(flags.plot, plotOf(figures, caption))
  if (document !== undefined) writeTo(document.file, replaceBetweenMarks(document.text, markdownOf(flags, figures, caption, document.file), document.file))
  if (flags.json === true) process.stdout.write(`${JSON.stringify({ caption, figures }, null, 2)}\n`)
  else process.stdout.write(`${caption}\n\n${table(headOf(), rowsOf(figures))}\n${failures(figures)}`)
}

const captionOf = (flags: Flags, { requests, ceiling }: Workload): string =>
  `${requests.length.toLocaleString('en-US')} requests of ${basename(flags.trace)}${flags.speed === 1 ? '' : ` at ${flags.speed} times their rate`}, ` +
  `${flags.prefill} prefill and ${flags.decode} decode endpoints in ${flags.rolesets} rolesets; one infinite cache would hit ${((ceiling.hitTokens / ceiling.inputTokens) * 100).toFixed(1)} %`

const markdownOf = ({ plot }: Flags, figures: readonly PolicyFigures[], caption: string, file: string): string => {
  const picture = plot === undefined ? '' : `![Time to first token, prefix hits and balance of each policy: ${caption}](${relative(dirname(file), plot).replaceAll('\\', '/')})\n\n`
  return `\n${picture}${caption}:\n\n${markdownTable(figures)}\n`
}

const failures = (figures: readonly PolicyFigures[]): string =>
  figures.filter(({ failed }) => failed > 0).map(({ policy, failed, requests }) => `${policy}: ${failed} of ${requests} requests were not served\n`).join('')

const writeTo = (file: string, text: string): void => {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw new SignalboxError('usage', `cannot write: ${error instanceof Error ? error.message : String(error)}`, { file })
  }
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new SignalboxError('usage', `cannot read the document: ${error instanceof Error ? error.message : String(error)}`, { file })
  }
}
