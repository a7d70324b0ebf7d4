import { Command, Option } from 'commander'
import { request } from 'undici'
import { connectionFailure } from '../simulation/play/exchange.ts'
import { ProgressLine } from '../simulation/play/progress-line.ts'
import { playTrace, readTrace, reportText, TRACE_FORMATS, TraceError } from '../simulation/index.ts'
import type { PlayReport, TraceFormat } from '../simulation/index.ts'
import { countFrom, exitOnUsage, httpUrl, numberAbove, share } from './arguments.ts'

interface PlayFlags {
  readonly trace: string
  readonly url: string
  readonly format?: TraceFormat
  readonly speed: number
  readonly limit: number
  readonly offset: number
  readonly concurrency: number
  readonly imageShare: number
  readonly model?: string
  readonly maxOutput: number
  readonly timeout: number
  readonly salt: string
  readonly json?: boolean
}

const MODEL_DEFAULT = 'sim-model'
const PROBE_MS = 10_000

/** `signalbox play`: sends a trace to a front door and reports how it went. */
export function playCommand(): Command {
  return exitOnUsage(new Command('play'))
    .description('send a request trace to a front door at its arrival times and report latencies, shares and prefix hits')
    .requiredOption('--trace <file>', 'the trace')
    .option('--url <url>', 'the front door', httpUrl, 'http://127.0.0.1:8080')
    .addOption(new Option('--format <name>', 'format of the trace (default: found in its first line)').choices(TRACE_FORMATS))
    .option('--speed <factor>', 'divides the arrival times', numberAbove(0), 1)
    .option('--limit <count>', 'send at most so many requests', countFrom(1), Number.MAX_SAFE_INTEGER)
    .option('--offset <count>', 'leave out so many at the start of the trace', countFrom(0), 0)
    .option('--concurrency <count>', 'requests in flight at most', countFrom(1), 1024)
    .option('--image-share <share>', 'share of requests that carry an image, 0 to 1', share, 0)
    .option('--model <name>', 'model to ask for (default: the first that the front door lists)')
    .option('--max-output <tokens>', 'cut outputs to so many tokens', countFrom(1), Number.MAX_SAFE_INTEGER)
    .option('--timeout <seconds>', 'a request fails when nothing comes for so long', numberAbove(0), 600)
    .option('--salt <text>', 'makes all prompts differ from those of plays with another salt', '')
    .option('--json', 'print the report as JSON')
    .action(async (flags: PlayFlags) => {
      process.exitCode = await play(flags)
    })
}

async function play(flags: PlayFlags): Promise<number> {
  let model: string
  try {
    model = flags.model ?? (await firstModel(flags.url))
  } catch (error) {
    process.stderr.write(`signalbox play: no front door at ${flags.url} (${connectionFailure(error)}); start one with \`signalbox serve\` or give --url\n`)
    return 1
  }
  const interrupt = new AbortController()
  const stop = (): void => interrupt.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  const progress = new ProgressLine(process.stderr)
  try {
    const report = await playTrace(readTrace(flags.trace, flags.format), {
      ...flags,
      model,
      timeoutMs: flags.timeout * 1000,
      signal: interrupt.signal,
      onProgress: (now) => progress.update(now),
    })
    progress.end()
    process.stdout.write(flags.json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report))
    return allCompleted(report) ? 0 : 1
  } catch (error) {
    progress.end()
    if (!(error instanceof TraceError)) throw error
    process.stderr.write(`signalbox play: ${error.message}\n`)
    return 2
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
  }
}

function allCompleted(report: PlayReport): boolean {
  return !report.interrupted && report.sent > 0 && report.completed === report.sent
}

/** The first model that the front door lists, or the simulation's own when it lists none. */
async function firstModel(url: string): Promise<string> {
  const answer = await request(`${url.replace(/\/$/, '')}/v1/models`, { signal: AbortSignal.timeout(PROBE_MS) })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) return MODEL_DEFAULT
  try {
    const list = JSON.parse(text) as { readonly data?: readonly { readonly id?: unknown }[] }
    const id = list.data?.[0]?.id
    return typeof id === 'string' ? id : MODEL_DEFAULT
  } catch {
    return MODEL_DEFAULT
  }
}
