#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { Command } from 'commander'
import { VERSION } from '../app/version.ts'
import { SignalboxError } from '../core/errors.ts'
import { didYouMean } from '../core/nearest.ts'
import { outcome } from './outcome.ts'

interface Entry {
  readonly name: string
  readonly description: string
  load(): Promise<Command>
}

/** Each command is loaded only when it is called: help needs no database and no server. */
const COMMANDS: readonly Entry[] = [
  { name: 'serve', description: 'run the engine: schedule requests at the front door, journal every decision', load: async () => (await import('./serve.ts')).serveCommand() },
  { name: 'start', description: 'serve with a simulated fleet: something to try everything on', load: async () => (await import('./start.ts')).startCommand() },
  { name: 'agent', description: 'run beside a model server: announce it and publish its metrics on NATS', load: async () => (await import('./agent.ts')).agentCommand() },
  { name: 'simulate', description: 'run simulated model servers on real ports', load: async () => (await import('./simulate.ts')).simulateCommand() },
  { name: 'play', description: 'send a recorded trace to a front door and report', load: async () => (await import('./play.ts')).playCommand() },
  { name: 'compare', description: 'play a trace under several configurations, in virtual time, and compare', load: async () => (await import('./compare.ts')).compareCommand() },
  { name: 'check-config', description: 'check configuration files and show what they amount to', load: async () => (await import('./check-config.ts')).checkConfigCommand() },
  { name: 'replay', description: 'decide every record of a journal again and compare', load: async () => (await import('./replay.ts')).replayCommand() },
  { name: 'fork', description: 'decide recorded inputs again under another configuration', load: async () => (await import('./fork.ts')).forkCommand() },
  { name: 'explain', description: 'say why a request went where it did', load: async () => (await import('./explain.ts')).explainCommand() },
  { name: 'journal', description: 'look into a journal, export, verify and prune it', load: async () => (await import('./journal.ts')).journalCommand() },
  { name: 'endpoint', description: 'list and drain the endpoints of a running engine', load: async () => (await import('./endpoint.ts')).endpointCommand() },
  { name: 'viz', description: 'see a journal or a running engine in the browser', load: async () => (await import('./viz.ts')).vizCommand() },
  { name: 'machine', description: 'print the state machines for other tools', load: async () => (await import('./machine.ts')).machineCommand() },
]

const main = async (): Promise<void> => {
  const program = new Command('signalbox')
    .description('Schedules LLM inference requests, and can say of each why it went where it did.')
    .version(VERSION)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  const [first, second] = process.argv.slice(2)
  const called = first === 'help' ? second : first
  if (isUnknown(called)) return outcome(() => { throw new SignalboxError('usage', `unknown command \`${called}\`${didYouMean(called, COMMANDS.map(({ name }) => name))}`) })
  for (const { name, description, load } of COMMANDS) program.addCommand(name === called ? await load() : new Command(name).description(description))
  await program.parseAsync()
}

const isUnknown = (called: string | undefined): called is string =>
  called !== undefined && !called.startsWith('-') && called !== 'help' && !COMMANDS.some(({ name }) => name === called)

await main()
