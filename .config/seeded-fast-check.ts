/**
 * What tests get as `fast-check`: every run draws the same values, so that a failure is a change's fault and never chance's.
 * `npm run test:properties` draws others each time; SIGNALBOX_SEED=N repeats one of its rounds.
 */

import fc from '../node_modules/fast-check/lib/fast-check.js'

const seed = Number(process.env['SIGNALBOX_SEED'] ?? 20_251_001)
if (!Number.isInteger(seed)) throw new Error(`SIGNALBOX_SEED is not a whole number: ${process.env['SIGNALBOX_SEED']}`)
fc.configureGlobal({ seed })

export default fc
export * from '../node_modules/fast-check/lib/fast-check.js'
