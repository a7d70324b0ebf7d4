import { Command } from 'commander'
import type { BrokerAccess } from '../app/journal-place.ts'
import { pluginModules } from '../app/reading.ts'
import { engineOptions, explain, sentence } from '../replay/index.ts'
import type { Explanation } from '../replay/index.ts'
import { exitOnUsage } from './arguments.ts'
import { EXIT, json } from './outcome.ts'
import { explanationText } from './explain-text.ts'
import { JOURNAL, withBrokerOptions, withJournal } from './with-journal.ts'

interface Flags extends BrokerAccess {
  readonly plugins?: readonly string[]
  readonly json?: boolean
  readonly all?: boolean
}

/** `signalbox explain`: why did this request go there? */
export const explainCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('explain')))
    .description('say why a request went where it did: candidates, filters, scores, margin, tie and draw')
    .argument('<journal>', JOURNAL)
    .argument('<request-id>', 'its x-request-id, or the position of its arrival')
    .option('--all', 'show every candidate; without it the best 20 of each profile')
    .option('--plugins <module>', 'a module of your own that exports pluginTypes; may be given several times', (module: string, before: readonly string[] = []) => [...before, module])
    .option('--json', 'print the receipts as JSON')
    .addHelpText('after', '\nExit code: 0 found, 2 no such request, 1 the journal is damaged.')
    .action((path: string, id: string, flags: Flags) => withJournal(path, flags, async (reader) => {
      const found = explain(engineOptions(await pluginModules(flags.plugins ?? [])), reader, id)
      process.stdout.write(flags.json === true ? json(found.map(withSentences)) : found.map((each) => explanationText(each, flags.all === true)).join('\n'))
      return EXIT.right
    }))

const withSentences = (explanation: Explanation): object => ({
  ...explanation,
  receipts: explanation.receipts.map((receipt) => ({ sentence: sentence(receipt), ...receipt })),
})
