import { Command, InvalidArgumentError } from 'commander'
import { changes, exportJournal, isExported, JournalError, parseKeep, pruneJournal, readRecords, statOf, toEnd, verify } from '../app/journal-files.ts'
import type { JournalReader, Keep } from '../app/journal-files.ts'
import type { BrokerAccess } from '../app/journal-place.ts'
import { SignalboxError } from '../core/errors.ts'
import { countFrom, exitOnUsage } from './arguments.ts'
import { recordJson, recordLine, statText, verifiedText } from './journal-text.ts'
import { EXIT, json, outcome } from './outcome.ts'
import { Progress } from './progress.ts'
import { JOURNAL, withBrokerOptions, withJournal } from './with-journal.ts'

const MICROS_PER_MS = 1000
const TAIL_RECORDS = 10

/** `signalbox journal`: look at, check, cut and copy the journal. */
export const journalCommand = (): Command =>
  exitOnUsage(new Command('journal'))
    .description('look at, check, cut and copy a journal')
    .addCommand(statCommand())
    .addCommand(tailCommand())
    .addCommand(exportCommand())
    .addCommand(verifyCommand())
    .addCommand(pruneCommand())

const statCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('stat')))
    .description('segments, positions, times, records by kind, and what they take')
    .argument('<journal>', JOURNAL)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 right, 1 the journal is damaged, 2 it cannot be opened.')
    .action((path: string, flags: BrokerAccess & { readonly json?: boolean }) => withJournal(path, flags, reader => {
      const progress = progressOver('reading', reader)
      const stat = toEnd(statOf(reader), records => progress.at(records))
      progress.end()
      process.stdout.write(flags.json === true ? json({ ...stat, segmentList: reader.segments() }) : statText(stat, reader.segments()))
      return EXIT.right
    }))

const tailCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('tail')))
    .description('the last records, and with --follow those that come')
    .argument('<journal>', JOURNAL)
    .option('-n, --records <count>', 'how many of the last records', countFrom(0), TAIL_RECORDS)
    .option('-f, --follow', 'go on with what is written, until interrupted')
    .option('--json', 'print each record as a line of JSON')
    .addHelpText('after', '\nExit code: 0 right, 1 the journal is damaged, 2 it cannot be opened.')
    .action((path: string, flags: BrokerAccess & { readonly records: number; readonly follow?: boolean; readonly json?: boolean }) => withJournal(path, flags, async reader => {
      if (flags.follow === true && isExported(path)) throw new SignalboxError('usage', `${path} is an exported file, which does not grow: leave out --follow`)
      const oldest = (reader.segments()[0]?.basePosition ?? 0) + 1
      let next = Math.max(oldest, reader.lastPosition() - flags.records + 1)
      const print = (): void => {
        for (const record of readRecords(reader, next)) {
          process.stdout.write(`${flags.json === true ? recordJson(record) : recordLine(record)}\n`)
          next = record.position + 1
        }
      }
      if (flags.follow !== true) print()
      else for await (const _ of changes(path, interrupted())) print()
      return EXIT.right
    }))

const exportCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('export')))
    .description('copy a slice into a file that replay, explain, verify and the visualizer open like a journal')
    .argument('<journal>', JOURNAL)
    .argument('<file>', 'the file to write, by custom *.sbj')
    .option('--from <position>', 'first record wanted; the slice begins at the base before it', countFrom(1))
    .option('--to <position>', 'last record wanted; the slice ends with its batch', countFrom(1))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 written and checked, 1 the journal is damaged or the file cannot be written, 2 the positions are not there.')
    .action((path: string, file: string, flags: BrokerAccess & { readonly from?: number; readonly to?: number; readonly json?: boolean }) => withJournal(path, flags, reader => {
      const { from = (reader.segments()[0]?.basePosition ?? 0) + 1, to = Math.max(from, reader.lastPosition()) } = flags
      const total = reader.segments().reduce((sum, segment) => sum + segment.bytes, 0)
      const progress = new Progress('writing', total)
      const done = exportJournal(reader, file, from, to, bytes => progress.at(Math.min(bytes, total)))
      progress.end()
      process.stdout.write(flags.json === true ? json({ file, ...done })
        : `${file}: records ${done.firstPosition} to ${done.lastPosition}, ${done.bytes} bytes\n`)
      return EXIT.right
    }))

const verifyCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('verify')))
    .description('follow the chain and read every record; names the first fault and where it is')
    .argument('<journal>', JOURNAL)
    .option('--base <position>', 'begin at the base at this position; without it at the oldest', countFrom(0))
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 whole, 1 there is a fault, 2 it cannot be opened.')
    .action((path: string, flags: BrokerAccess & { readonly base?: number; readonly json?: boolean }) => withJournal(path, flags, reader => {
      const progress = progressOver('verifying', reader)
      const first = flags.base ?? reader.segments()[0]?.basePosition ?? 0
      try {
        const verified = toEnd(verify(reader, flags.base), position => progress.at(position - first))
        const seconds = progress.end()
        process.stdout.write(flags.json === true ? json({ whole: true, ...verified }) : verifiedText(path, verified, seconds))
        return EXIT.right
      } catch (error) {
        progress.end()
        if (!(error instanceof JournalError) || flags.json !== true) throw error
        process.stdout.write(json({ whole: false, fault: error.fault, goodPosition: error.position, message: error.message, fix: error.fix }))
        return EXIT.found
      }
    }))

const pruneCommand = (): Command =>
  exitOnUsage(new Command('prune'))
    .description('drop whole old segments of a journal that nobody writes; a running engine does it by --journal-keep')
    .argument('<journal>', 'journal.sqlite, or the folder it is in')
    .requiredOption('--keep <bounds>', 'what to keep: an age, a size or both, as in 24h,20GB; the newest segment always', keepBounds)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit code: 0 done, 1 the journal is written by a process or cannot be changed, 2 it cannot be opened.')
    .action((path: string, flags: { readonly keep: Keep; readonly json?: boolean }) => outcome(() => {
      let progress: Progress | undefined
      const pruned = pruneJournal(path, flags.keep, Date.now() * MICROS_PER_MS, (done, of) => {
        progress ??= new Progress('dropping segments', of)
        progress.at(done)
      })
      progress?.end()
      process.stdout.write(flags.json === true ? json(pruned)
        : `dropped ${pruned.segments} segments, ${pruned.bytes} bytes; the journal begins at position ${pruned.basePosition + 1}\n`)
      return EXIT.right
    }))

function keepBounds(text: string): Keep {
  try {
    return parseKeep(text)
  } catch (error) {
    if (error instanceof SignalboxError) throw new InvalidArgumentError(error.message)
    throw error
  }
}

function progressOver(label: string, reader: JournalReader): Progress {
  return new Progress(label, reader.lastPosition() - (reader.segments()[0]?.basePosition ?? 0))
}

/** Says when the user wants to stop. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => controller.abort())
  process.once('SIGTERM', () => controller.abort())
  return controller.signal
}
