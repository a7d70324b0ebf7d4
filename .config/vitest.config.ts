import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: { alias: [{ find: /^fast-check$/, replacement: fileURLToPath(new URL('seeded-fast-check.ts', import.meta.url)) }] },
  test: {
    include: ['test/**/*.test.ts'],
    // The long ones have scripts of their own: test:faults, test:ui, bench.
    exclude: ['test/bench/**', 'test/faults/**', 'test/**/*.long.test.ts'],
    pool: 'forks',
    // Files of one worker share what they import, which halves the time; what a test stubs is put back after it.
    isolate: false,
    restoreMocks: true,
    unstubGlobals: true,
    unstubEnvs: true,
    maxWorkers: availableParallelism(),
    execArgv: ['--disable-warning=ExperimentalWarning'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
    allowOnly: false,
  },
})
