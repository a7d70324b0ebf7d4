import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from './package-root.ts'
import { findPool, launchPool, stateFileOf } from '../simulation/index.ts'

/** The simulated fleet of `npm start`. */
export interface Fleet {
  readonly endpointsFile: string
  readonly model: string
  readonly controlUrl: string
  /** How many, by role. */
  readonly counts: string
  /** True when it was running already. */
  readonly reused: boolean
}

const DECODE = 4
const PREFILL = 2
const ENCODE = 1
/** Sequences that each runs at once: few enough that queues form, and with them a reason to go elsewhere. */
const RUNNING_MAX = 16
const MODEL = 'sim-model'

/** The configuration that `npm start` runs. */
export const START_CONFIGURATION: string = fileURLToPath(new URL('deploy/config/disaggregated.yaml', PACKAGE_ROOT))

/**
 * Finds the simulated fleet that an engine before this one left running, or starts one. It is a process of its own: it
 * outlives the engine, as a real fleet does.
 */
export const simulatedFleet = async (endpointsFile: string, speed: number, program: readonly [string, ...string[]]): Promise<Fleet> => {
  const living = await findPool(stateFileOf(endpointsFile))
  const counts = `${DECODE} decode, ${PREFILL} prefill, ${ENCODE} encode`
  if (living !== undefined && living.speed === speed) return { endpointsFile, model: living.model, controlUrl: living.controlUrl, counts, reused: true }
  mkdirSync(dirname(endpointsFile), { recursive: true })
  const { controlUrl, model } = await launchPool(program, { decode: DECODE, prefill: PREFILL, encode: ENCODE, model: MODEL, speed, endpointsFile, timing: { maxRunning: RUNNING_MAX } })
  return { endpointsFile, model, controlUrl, counts, reused: false }
}
