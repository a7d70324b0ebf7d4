import { once } from 'node:events'
import { Command } from 'commander'
import { forkOf } from '../app/fork.ts'
import { load } from '../app/load.ts'
import { openJournalAt } from '../app/journal-place.ts'
import type { BrokerAccess } from '../app/journal-place.ts'
import { pluginModules } from '../app/reading.ts'
import { engineOptions, sentence } from '../replay/index.ts'
import type { ForkedDecision, ForkSummary } from '../replay/index.ts'
import { countFrom, exitOnUsage } from './arguments.ts'
import { EXIT, outcome } from './outcome.ts'
import { Progress } from './progress.ts'
import { table } from './table.ts'
import { JOURNAL, withBrokerOptions } from './with-journal.ts'

interface Flags extends BrokerAccess {
  readonly config: readonly string[]
  readonly plugins?: readonly string[]
  readonly from?: number
  readonly until?: number
  readonly json?: boolean
  readonly allowExperimentalPlugins?: boolean
}

const listed = (value: string, before: readonly string[] = []): string[] => [...before, value]
/** A fork reads the receipts of one record at a time. */
const RECEIPT_BYTES = 1024 * 1024
/** Changed decisions printed for people; all with --json. */
const SHOWN_MAX = 20

/** `signalbox fork`: what would have been decided under another configuration? */
export const forkCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('fork')))
    .description('decide the recorded inputs again under another configuration, and tell which decisions change')
    .argument('<journal>', JOURNAL)
    .requiredOption('--config <file>', 'the other configuration; may be given several times', listed)
    .option('--from <position>', 'begin at the newest base at or before it', countFrom(0))
    .option('--until <position>', 'stop after it', countFrom(1))
    .option('--plugins <module>', 'a module of your own that exports pluginTypes; may be given several times', listed)
    .option('--allow-experimental-plugins', 'allow plugin types that are alpha')
    .option('--json', 'one JSON object a line: each changed decision with both receipts, then the summary')
    .addHelpText('after', '\nRecorded are the inputs and their times; assumed is that endpoints would have answered as they did.\nExit code: 0 nothing changes, 1 some decision does, 2 wrong usage.')
    .action((path: string, flags: Flags) => outcome(async () => {
      const { completed } = await load({ files: flags.config, flags: new Map(), pluginModules: flags.plugins ?? [], allowExperimental: flags.allowExperimentalPlugins ?? false, endpoints: undefined })
      const reader = openJournalAt(path, flags)
      try {
        const options = engineOptions(await pluginModules(flags.plugins ?? []), { receiptBytes: RECEIPT_BYTES })
        const run = forkOf(options, reader, completed, { from: flags.from, until: flags.until }, () => flags.json === true)
        const progress = new Progress('fork', reader.lastPosition())
        let shown = 0
        for (;;) {
          const step = run.next()
          if (step.done === true) {
            progress.end()
            await print(flags.json === true ? line({ summary: step.value }) : summaryText(step.value))
            return step.value.changed === 0 ? EXIT.right : EXIT.found
          }
          if (typeof step.value === 'number') progress.at(step.value)
          else if (flags.json === true) await print(line(withSentences(step.value)))
          else if (shown < SHOWN_MAX) {
            shown += 1
            await print(`${step.value.position}  ${step.value.requestId}\n  recorded  ${step.value.recorded}\n  forked    ${step.value.forked}\n`)
          }
        }
      } finally {
        reader.close()
      }
    }))

/** Waits for a slow reader, so that what it has not taken does not pile up. */
const print = async (text: string): Promise<void> => {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

const line = (value: unknown): string => `${JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? each.toString() : each))}\n`

const withSentences = (change: ForkedDecision): object => ({
  ...change,
  recordedSentence: change.recordedReceipt === undefined ? undefined : sentence(change.recordedReceipt),
  forkedSentence: change.forkedReceipt === undefined ? undefined : sentence(change.forkedReceipt),
})

const summaryText = (summary: ForkSummary): string => {
  const { records, decisions, changed, endpoints, hitTokens, promptTokens, assumed, missing } = summary
  const share = decisions === 0 ? 0 : Math.round((changed / decisions) * 1000) / 10
  const rows = endpoints.map(({ id, recorded, forked }) => [`  ${id}`, String(recorded.picks), String(forked.picks), String(recorded.inFlightMax), String(forked.inFlightMax)])
  return [
    `\n${changed} of ${decisions} decisions change (${share} %), ${records} records`,
    table(['  endpoint', 'picks', 'forked', 'most in flight', 'forked'], rows),
    `cached prompt tokens of the primary pick: ${hitTokens.recorded} recorded, ${hitTokens.forked} forked, of ${promptTokens}`,
    `turned away: ${summary.rejectedOnlyRecorded} only when recorded, ${summary.rejectedOnlyForked} only now`,
    ...missing.map((text) => `not recorded: ${text}`),
    ...assumed.map((text) => `assumed: ${text}`),
  ].join('\n') + '\n'
}
