import { Argument, Command, Option } from 'commander'
import { machines, toMermaid, toXStateJson } from '../app/machines.ts'
import { exitOnUsage } from './arguments.ts'
import { EXIT, json, outcome } from './outcome.ts'

/** `signalbox machine`: the statecharts, for other tools. */
export const machineCommand = (): Command => {
  const command = exitOnUsage(new Command('machine')).description('the state machines that the engine runs')
  exitOnUsage(command.command('export'))
    .description('print a machine as a Mermaid diagram, or as XState JSON that Stately\'s tools open')
    .addArgument(new Argument('<machine>', 'which one').choices(Object.keys(machines)))
    .addOption(new Option('--format <format>', 'how').choices(['mermaid', 'xstate']).default('mermaid'))
    .action((name: keyof typeof machines, { format }: { readonly format: string }) => outcome(() => {
      const machine = machines[name]
      process.stdout.write(format === 'mermaid' ? `${toMermaid(machine).trimEnd()}\n` : json(toXStateJson(machine)))
      return EXIT.right
    }))
  return command
}
