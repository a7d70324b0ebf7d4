import { availableParallelism } from 'node:os'
import { Command, Option } from 'commander'
import type { JournalReader } from '../app/journal-files.ts'
import type { BrokerAccess } from '../app/journal-place.ts'
import { replayInThreads } from '../app/replay-threads.ts'
import type { Divergence, Replayed } from '../replay/index.ts'
import { countFrom, exitOnUsage } from './arguments.ts'
import { EXIT, json } from './outcome.ts'
import { Progress } from './progress.ts'
import { JOURNAL, withBrokerOptions, withJournal } from './with-journal.ts'

interface Flags extends BrokerAccess {
  readonly from?: number
  readonly until?: number
  readonly interpreter: 'table' | 'xstate'
  readonly plugins?: readonly string[]
  readonly threads: number
  readonly json?: boolean
}

/** `signalbox replay`: does every decision of a journal come out the same again? */
export const replayCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('replay')))
    .description('decide every record of a journal again and compare; stops at the first difference')
    .argument('<journal>', JOURNAL)
    .option('--from <position>', 'begin at the newest base at or before this position (default: the oldest base)', countFrom(0))
    .option('--until <position>', 'stop after this position', countFrom(1))
    .addOption(new Option('--interpreter <name>', 'what runs the state machines').choices(['table', 'xstate']).default('table'))
    .option('--plugins <module>', 'a module of your own that exports pluginTypes; may be given several times', (module: string, before: readonly string[] = []) => [...before, module])
    .addOption(new Option('--threads <count>', 'parts of the journal, from one base to another, that are replayed at once').argParser(countFrom(1)).default(availableParallelism(), 'one for each processor'))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExit code: 0 no difference, 1 a difference or a damaged journal, 2 wrong usage.')
    .action((path: string, flags: Flags) => withJournal(path, flags, (reader) => replay(path, reader, flags)))

const replay = async (place: string, reader: JournalReader, flags: Flags): Promise<number> => {
  const { from, until, interpreter, threads, plugins = [] } = flags
  const progress = new Progress('replay', (until ?? reader.lastPosition()) - (from ?? 0))
  let result: Replayed | undefined
  let seconds = 0
  try {
    result = await replayInThreads({ place, access: flags, interpreter, plugins, threads, progress: (records) => progress.at(records) }, reader, { from, until })
  } finally {
    seconds = progress.end()
  }
  process.stdout.write(flags.json === true ? json({ ...result, seconds }) : text(result, seconds))
  return result.divergence === undefined ? EXIT.right : EXIT.found
}

const text = ({ from, to, records, decisions, basesCompared, divergence }: Replayed, seconds: number): string => {
  const rate = seconds === 0 ? '' : `, ${Math.round(records / seconds).toLocaleString('en')} records/s`
  const head = `${records.toLocaleString('en')} records after position ${from} up to ${to}, ${decisions.toLocaleString('en')} decisions, ${basesCompared} states compared in ${seconds.toFixed(2)} s${rate}\n`
  return head + (divergence === undefined ? '0 divergences\n' : divergenceText(divergence))
}

const divergenceText = ({ position, field, journalSays, codeSays }: Divergence): string =>
  `1 divergence, at position ${position}\n  ${field}\n  journal says   ${journalSays}\n  code now says  ${codeSays}\n`
