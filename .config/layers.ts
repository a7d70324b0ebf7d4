// Who may import whom, as a table. `npm run layers` holds the sources to it.

export interface Layer {
  readonly folder: string
  /** The folders it may import from, besides its own. */
  readonly layers: readonly string[]
  /** The folders it may import only types from. */
  readonly typesOnly?: readonly string[]
  /** The npm packages it may import; none when absent. */
  readonly libraries?: readonly string[] | 'any'
  /** Whether what it imports is built into the page, so that users of the package install none of it; not when absent. */
  readonly bundled?: boolean
  /** Whether it may import Node.js' own modules; not when absent. */
  readonly node?: boolean
}

/** The folders whose imports are checked; every module in them belongs to one layer. */
export const sourceFolders = ['src', 'machines'] as const

/** Each adapter in here stands between the engine and one outside thing, so it has one outside library: one npm package or scope. */
export const adaptersFolder = 'src/adapters'

const core = 'src/core'
const belowReplay = [core, 'machines', 'src/aibrix', 'src/scheduling', 'src/plugins', 'src/journal', 'src/engine', 'src/wire']

export const layers: readonly Layer[] = [
  { folder: core, layers: [] },
  { folder: 'src/wire', layers: [] },
  { folder: 'machines', layers: [core], libraries: ['xstate'] },
  { folder: 'src/aibrix', layers: [core] },
  // The receipt and the decision are messages: their vocabulary is the schemas'.
  { folder: 'src/scheduling', layers: [core, 'src/wire'] },
  { folder: 'src/plugins', layers: [core, 'src/scheduling', 'src/aibrix'] },
  { folder: 'src/journal', layers: [core, 'src/wire'] },
  { folder: 'src/engine', layers: [core, 'machines', 'src/scheduling', 'src/journal', 'src/wire'], typesOnly: ['src/plugins'] },
  { folder: 'src/replay', layers: belowReplay },
  { folder: 'src/actors', layers: [...belowReplay, 'src/replay'], libraries: ['rxjs'], node: true },
  { folder: adaptersFolder, layers: [core, 'src/journal', 'src/wire'], typesOnly: ['src/plugins'], libraries: 'any', node: true },
  { folder: 'src/config', layers: [core, 'src/plugins'], libraries: ['yaml'], node: true },
  { folder: 'src/client', layers: [core, 'src/wire'], libraries: ['@nats-io/jetstream', '@nats-io/nats-core'] },
  { folder: 'src/simulation', layers: [core, 'src/wire'], libraries: 'any', node: true },
  { folder: 'src/app', layers: sourceFolders, libraries: 'any', node: true },
  { folder: 'src/cli', layers: [core, 'src/app', 'src/replay', 'src/config', 'src/simulation'], libraries: 'any', node: true },
  { folder: 'src/visualizer', layers: [...belowReplay, 'src/replay', 'src/config'], libraries: 'any', bundled: true },
]
