import { Command } from 'commander'
import { load } from '../app/load.ts'
import { addressText, serve } from '../app/serve.ts'
import type { Serving } from '../app/serve.ts'
import { addSettingsOptions, settingsFlags } from '../config/signalbox/options.ts'
import { exitOnUsage } from './arguments.ts'
import { EXIT, outcome } from './outcome.ts'

export interface ServeFlags {
  readonly config?: readonly string[]
  readonly endpoints?: string
  readonly plugins?: readonly string[]
  readonly allowExperimentalPlugins?: boolean
}

const several = (value: string, before: readonly string[] = []): readonly string[] => [...before, value]

/** The options of `serve`, which `start` takes too. */
export const addServeOptions = (command: Command): Command =>
  addSettingsOptions(command
    .option('--config <file>', 'EndpointPickerConfig and SignalboxConfig documents; may be given several times', several)
    .option('--endpoints <file>', 'file that lists the endpoints, read again when it changes')
    .option('--plugins <module>', 'a module of your own that exports pluginTypes; may be given several times', several)
    .option('--allow-experimental-plugins', 'allow plugin types that are alpha'))

/** `signalbox serve`: the engine with its front door. */
export const serveCommand = (): Command =>
  addServeOptions(exitOnUsage(new Command('serve')))
    .description('run the engine: schedule requests at the front door, journal every decision')
    .addHelpText('after', '\nSIGTERM or SIGINT: takes no new requests, lets those in flight end, closes the journal. A second one ends at once.')
    .action((flags: ServeFlags, command: Command) => outcome(async () => {
      const serving = await serveWith(flags, settingsFlags(command.opts()))
      const told = untilTold(serving)
      process.stdout.write(`serving on http://${addressText(serving.front)}, admin on http://${addressText(serving.admin)}\n`)
      await told
      return EXIT.right
    }))

/** Loads the configuration and starts serving it. */
export const serveWith = async (flags: ServeFlags, settings: ReadonlyMap<string, string>): Promise<Serving> =>
  serve(await load({
    files: flags.config ?? [],
    flags: settings,
    pluginModules: flags.plugins ?? [],
    allowExperimental: flags.allowExperimentalPlugins ?? false,
    endpoints: flags.endpoints,
  }))

/** Serves until a signal, then shuts down with grace; a second signal ends the process at once. To be called before anybody is told that it serves. */
export const untilTold = async (serving: Serving): Promise<void> => {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(EXIT.found))
  await serving.close()
}
