import { Command } from 'commander'
import { fileURLToPath } from 'node:url'
import { simulatedFleet, START_CONFIGURATION } from '../app/start.ts'
import type { Fleet } from '../app/start.ts'
import { addressText } from '../app/serve.ts'
import type { Serving } from '../app/serve.ts'
import { settingsFlags } from '../config/signalbox/options.ts'
import { exitOnUsage, numberAbove } from './arguments.ts'
import { EXIT, outcome } from './outcome.ts'
import { addServeOptions, serveWith, untilTold } from './serve.ts'
import type { ServeFlags } from './serve.ts'

interface StartFlags extends ServeFlags {
  readonly speed: number
}

const ENDPOINTS_FILE = '.signalbox/endpoints.yaml'

/** `signalbox start`, which `npm start` runs: `serve` with a simulated fleet. */
export const startCommand = (): Command =>
  addServeOptions(exitOnUsage(new Command('start')))
    .description('serve with a simulated fleet: something to try everything on')
    .option('--speed <factor>', 'divides all times of the simulated endpoints', numberAbove(0), 1)
    .action((flags: StartFlags, command: Command) => outcome(async () => {
      const fleet = flags.endpoints === undefined ? await simulatedFleet(ENDPOINTS_FILE, flags.speed, program()) : undefined
      const settings = new Map([['log-level', 'warn'], ['log-format', 'text'], ...settingsFlags(command.opts())])
      const serving = await serveWith({
        ...flags,
        config: flags.config ?? [START_CONFIGURATION],
        ...(fleet === undefined ? {} : { endpoints: fleet.endpointsFile }),
      }, settings)
      const told = untilTold(serving)
      process.stdout.write(greeting(serving, fleet))
      await told
      return EXIT.right
    }))

const program = (): readonly [string, ...string[]] => [process.execPath, '--disable-warning=ExperimentalWarning', fileURLToPath(new URL('./main.ts', import.meta.url))]

const greeting = ({ front, admin }: Serving, fleet: Fleet | undefined): string => {
  const url = `http://${addressText(front)}`
  const lines = [`front door  ${url}`, `admin       http://${addressText(admin)}  (/ui /metrics /healthz /readyz /endpoints /debug/plugins/state)`]
  if (fleet !== undefined) {
    lines.push(
      `fleet       ${fleet.counts}${fleet.reused ? ', running already' : ''}; stop it with: curl -X POST ${fleet.controlUrl}/pool/stop`,
      '', 'try',
      `  curl -N ${url}/v1/chat/completions -H 'content-type: application/json' -d '{"model":"${fleet.model}","stream":true,"messages":[{"role":"user","content":"Which way at the junction?"}]}'`,
    )
  }
  return `${lines.join('\n')}\n`
}
