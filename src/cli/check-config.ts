import { Command } from 'commander'
import { checkConfiguration } from '../config/check.ts'
import { exitOnUsage } from './arguments.ts'

interface Options {
  readonly plugins?: readonly string[]
  readonly allowExperimentalPlugins?: boolean
  readonly json?: boolean
}

/** `signalbox check-config`: is this configuration right, and what does it amount to? */
export const checkConfigCommand = (): Command =>
  exitOnUsage(new Command('check-config'))
    .description('check configuration files and show what they amount to, with all that is added by default')
    .argument('[file...]', 'EndpointPickerConfig and SignalboxConfig documents; none shows the built-in default')
    .option('--plugins <module>', 'a module of your own that exports pluginTypes; may be given several times', (module: string, before: readonly string[] = []) => [...before, module])
    .option('--allow-experimental-plugins', 'allow plugin types that are alpha')
    .option('--json', 'print JSON: the completed configuration, settings, graph and warnings, or the errors')
    .addHelpText('after', '\nExit code: 0 right, 1 wrong (each error with its place), 2 it could not be read, or wrong usage.')
    .action(async (files: readonly string[], options: Options) => {
      const { exitCode, output, diagnostics } = await checkConfiguration({
        files,
        plugins: options.plugins ?? [],
        allowExperimental: options.allowExperimentalPlugins ?? false,
        json: options.json ?? false,
      })
      process.stdout.write(output)
      process.stderr.write(diagnostics)
      process.exitCode = exitCode
    })
