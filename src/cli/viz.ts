import { spawn } from 'node:child_process'
import { basename, dirname } from 'node:path'
import { Command } from 'commander'
import { isInStream, openJournalAt } from '../app/journal-place.ts'
import type { BrokerAccess } from '../app/journal-place.ts'
import { addressText } from '../app/serve.ts'
import { pageFolder } from '../app/ui/page-folder.ts'
import { servePage } from '../app/ui/page-server.ts'
import { SignalboxError } from '../core/errors.ts'
import { countFrom, exitOnUsage } from './arguments.ts'
import { EXIT, outcome } from './outcome.ts'
import { JOURNAL, withBrokerOptions } from './with-journal.ts'

interface Flags extends BrokerAccess {
  readonly port: number
  readonly at?: number
  readonly open: boolean
}

const PORT_MAX = 65_535

/** `signalbox viz`: the visualizer on a journal, or on a running engine. */
export const vizCommand = (): Command =>
  withBrokerOptions(exitOnUsage(new Command('viz')))
    .description('see a journal in the browser: the fleet, the machines, and why each request went where it did')
    .argument('[journal]', `${JOURNAL}; or http://host:port of a running engine's admin port`, '.signalbox')
    .option('--port <port>', 'where the page is served on this machine; 0 takes a free one', countFrom(0, PORT_MAX), 0)
    .option('--at <position>', 'open at this position', countFrom(1))
    .option('--no-open', 'print the address, and open no browser')
    .addHelpText('after', '\nNo request leaves the machine: the page replays the journal in the browser.')
    .action((journal: string, flags: Flags) => outcome(async () => {
      const link = flags.at === undefined ? '' : `#/records?at=${flags.at}`
      if (/^https?:\/\//.test(journal)) {
        show(`${await running(journal)}${link}`, flags.open)
        return EXIT.right
      }
      const reader = openJournalAt(journal, flags)
      await pageFolder()
      const page = await servePage({ host: '127.0.0.1', port: flags.port }, nameOf(journal), reader, false)
      const told = new Promise<void>((resolve) => {
        for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
      })
      show(`http://${addressText(page.address)}/${link}`, flags.open)
      await told
      await page.close()
      reader.close()
      return EXIT.right
    }))

/** The folder says more than a file that is always called the same. */
const nameOf = (journal: string): string =>
  basename(journal) === 'journal.sqlite' || isInStream(journal) ? `${basename(dirname(journal))}/${basename(journal)}` : basename(journal)

const running = async (url: string): Promise<string> => {
  const page = new URL('/ui', url).href
  let status: number
  try {
    status = (await fetch(page)).status
  } catch {
    throw new SignalboxError('usage', `nobody answers at ${url}: give the admin address of a running engine`)
  }
  if (status !== 200) throw new SignalboxError('usage', `${page} answered ${status}: the engine there serves no page to this machine (see --ui)`)
  return page
}

/** Where there is a screen, the browser that the desktop prefers. */
const show = (url: string, open: boolean): void => {
  process.stdout.write(`${url}\n`)
  const opener = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? undefined : 'xdg-open'
  const hasScreen = process.platform === 'darwin' || process.env['DISPLAY'] !== undefined || process.env['WAYLAND_DISPLAY'] !== undefined
  if (!open || opener === undefined || !hasScreen || !process.stdout.isTTY) return
  // Without a browser the printed address is there still.
  spawn(opener, [url], { stdio: 'ignore', detached: true }).on('error', () => undefined).unref()
}
