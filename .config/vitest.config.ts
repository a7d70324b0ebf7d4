import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

/** Tests of the code alone: their files share a worker and what it imported, which halves their time. */
const SHARED = ['test/{unit,conformance,machines,property}/**/*.test.ts']
/** These have a script of their own: test:faults. */
const FAULTS = ['test/faults/**/*.test.ts', 'test/integration/**/*.long.test.ts']
/** And these: test:ui. */
const UI = ['test/ui/**/*.long.test.ts']
const BENCH = 'test/bench/**'
const MINUTE = 60_000

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { alias: [{ find: /^fast-check$/, replacement: fileURLToPath(new URL('seeded-fast-check.ts', import.meta.url)) }] },
  test: {
    pool: 'forks',
    maxWorkers: availableParallelism(),
    execArgv: ['--disable-warning=ExperimentalWarning'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    restoreMocks: true,
    unstubGlobals: true,
    unstubEnvs: true,
    passWithNoTests: false,
    allowOnly: false,
    projects: [
      { extends: true, test: { name: 'code', include: SHARED, isolate: false } },
      { extends: true, test: { name: 'world', include: ['test/**/*.test.ts'], exclude: [...SHARED, ...FAULTS, ...UI, BENCH] } },
      { extends: true, test: { name: 'faults', include: FAULTS, testTimeout: 5 * MINUTE } },
      { extends: true, test: { name: 'ui', include: UI, testTimeout: 2 * MINUTE, hookTimeout: 2 * MINUTE } },
    ],
  },
})
