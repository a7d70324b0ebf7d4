import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_ENGINE_SETTINGS } from '../../../src/core/configuration.ts'
import { addSettingsOptions, settingsFlags, settingsTable } from '../../../src/config/signalbox/options.ts'
import { completedYaml } from '../../../src/config/report/completed-yaml.ts'
import { settingKeys, SETTINGS } from '../../../src/config/signalbox/settings.ts'
import { errorsOf, load, warningsOf } from './loading.ts'

const signalbox = (body: string): string => `apiVersion: signalbox/v1\nkind: SignalboxConfig\n${body}`
const flags = (...pairs: readonly (readonly [string, string])[]): { flags: ReadonlyMap<string, string> } => ({ flags: new Map(pairs) })

describe('the settings', () => {
  it('are the engine\'s defaults where nothing is given', () => {
    const { completed, settings } = load('')
    expect(completed.engine).toEqual(DEFAULT_ENGINE_SETTINGS)
    expect(settings).toMatchObject({ listen: { host: '127.0.0.1', port: 8080 }, adminListen: { host: '127.0.0.1', port: 9090 }, journalKeep: { ms: 86_400_000, bytes: 20e9 }, drainTimeoutMs: 30_000 })
  })

  it('come from the document, and flags win over it', () => {
    const text = signalbox('pool: mine\nstale-after: 5s\nobjectives:\n  - {name: batch, priority: -1}\n  - {name: plain}\njournal-keep: 1h, 512MiB\nseed: 7\n')
    const { settings, completed } = load(text, flags(['pool', 'theirs'], ['objectives', 'chat=2, batch=-3'], ['listen', '[::1]:0']))
    expect(settings).toMatchObject({ pool: 'theirs', staleAfterMs: 5000, journalKeep: { ms: 3_600_000, bytes: 536_870_912 }, seed: '7', listen: { host: '::1', port: 0 } })
    expect(completed.engine.objectives).toEqual([{ name: 'chat', priority: 2 }, { name: 'batch', priority: -3 }])
    expect(load(text).completed.engine.objectives).toEqual([{ name: 'batch', priority: -1 }, { name: 'plain', priority: 0 }])
  })

  it('may stand in a file of their own', () => {
    const { completed } = load('', { texts: [{ file: 'a.yaml', text: 'kind: EndpointPickerConfig\napiVersion: llm-d.ai/v1alpha1\n' }, { file: 'b.yaml', text: signalbox('pool: b\n') }] })
    expect(completed.engine.pool).toBe('b')
  })

  it('change only the engine\'s part of the completed configuration', () => {
    const text = signalbox('timeout-producer: 1s\ntimeout-sent: 2s\ntimeout-first-token: 3s\ntimeout-silence: 4s\nretry-attempts: 5\nunreachable-strikes: 6\nunreachable-first-backoff: 7s\nunreachable-last-backoff: 8s\nstale-after: 9s\nsaturated-requests: 10\n')
    expect(load(text).completed).toEqual({
      ...load('').completed,
      engine: {
        pool: 'epp', objectives: [], timeouts: { producerMs: 1000, sentMs: 2000, firstTokenMs: 3000, silenceMs: 4000 }, retry: { attempts: 5 },
        unreachable: { strikes: 6, firstBackoffMs: 7000, lastBackoffMs: 8000 }, staleAfterMs: 9000, saturatedRequests: 10,
      },
    })
    expect(load(signalbox('listen: 0.0.0.0:80\nlog-level: debug\n')).completed).toEqual(load('').completed)
  })

  it('raise a refresh interval below 50 ms to it, with a warning', () => {
    const read = (text: string): number => load(signalbox(`refresh-metrics-interval: ${text}\n`)).settings.refreshMetricsIntervalMs
    expect(['0s', '1ms', '50ms', '200ms'].map(read)).toEqual([50, 50, 50, 200])
    expect(warningsOf(signalbox('refresh-metrics-interval: 1ms\n'))).toEqual(['refresh-metrics-interval 1ms is below the least, 50ms, which is taken (c.yaml:3:27)'])
    expect(warningsOf('', flags(['refresh-metrics-interval', '0']))).toEqual(['refresh-metrics-interval 0 is below the least, 50ms, which is taken (--refresh-metrics-interval)'])
    expect(warningsOf(signalbox('refresh-metrics-interval: 50ms\n'))).toEqual([])
  })

  it.each([
    ['no apiVersion', 'kind: SignalboxConfig\n', 'config-invalid: apiVersion is missing: write `apiVersion: signalbox/v1` (c.yaml:1:1)'],
    ['an unknown apiVersion', 'kind: SignalboxConfig\napiVersion: v1\n', 'config-invalid: unknown apiVersion `v1` of SignalboxConfig; did you mean `signalbox/v1`? (c.yaml:2:13)'],
    ['an unknown setting', signalbox('journal-pth: x\n'), 'config-unknown-field: unknown field `journal-pth`; did you mean `journal-path`? (c.yaml:3:1)'],
    ['a port too high', signalbox('listen: localhost:70000\n'), 'config-invalid: listen must be host:port, got "localhost:70000" (c.yaml:3:9)'],
    ['an unknown word', signalbox('durability: sync\n'), 'config-invalid: durability must be one of async, commit, got "sync" (c.yaml:3:13)'],
    ['a number for a duration', signalbox('stale-after: 5\n'), 'config-invalid: stale-after must be a duration of at least 1ms, got 5 (c.yaml:3:14)'],
    ['a pool that cannot be a subject', signalbox('pool: a.b\n'), 'config-invalid: pool must be made of A-Z a-z 0-9 _ -, got "a.b" (c.yaml:3:7)'],
    ['no attempt', signalbox('retry-attempts: 0\n'), 'config-invalid: retry-attempts must be a whole number from 1, got 0 (c.yaml:3:17)'],
    ['a seed too big', signalbox('seed: "18446744073709551616"\n'), 'config-invalid: seed must be a whole number from 0, below 2^64, got "18446744073709551616" (c.yaml:3:7)'],
    ['an objective twice', signalbox('objectives: [{name: a}, {name: a}]\n'), /^config-invalid: objectives must be a list of .*\(c\.yaml:3:13\)$/],
    ['an objective with a wrong field', signalbox('objectives: [{name: a, prio: 1}]\n'), /^config-invalid: objectives must be a list of /],
    ['a keep of one part', signalbox('journal-keep: 24h\n'), 'config-invalid: journal-keep must be a duration and a size such as 24h,20GB, got "24h" (c.yaml:3:15)'],
    ['backoffs the wrong way round', signalbox('unreachable-first-backoff: 1m\n'), 'config-invalid: unreachable-first-backoff is longer than unreachable-last-backoff (c.yaml:3:28)'],
  ])('refuse %s', (_, text, expected) => {
    const [error, ...more] = errorsOf(text)
    expect(more).toEqual([])
    if (typeof expected === 'string') expect(error).toBe(expected)
    else expect(error).toMatch(expected)
  })

  it('refuse wrong flags by the flag\'s name', () => {
    expect(errorsOf('', flags(['stale-after', 'soon'], ['jornal', 'x'], ['objectives', 'a']))).toEqual([
      'usage: unknown setting `--jornal`; did you mean `--journal`?',
      expect.stringMatching(/^config-invalid: objectives must be .* got "a" \(--objectives\)$/),
      'config-invalid: stale-after must be a duration of at least 1ms, got "soon" (--stale-after)',
    ])
  })

  it('read back as they are written', () => {
    fc.assert(fc.property(
      fc.record({
        pool: fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/), staleAfterMs: fc.integer({ min: 1, max: 1e9 }), bodyLimitBytes: fc.nat({ max: 1e12 }),
        objectives: fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), priority: fc.integer() }), { selector: ({ name }) => name }),
        seed: fc.option(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String), { nil: undefined }), journalPath: fc.stringMatching(/^[a-z/.]{1,9}$/),
        journalKeep: fc.record({ ms: fc.integer({ min: 1, max: 1e9 }), bytes: fc.integer({ min: 1, max: 1e12 }) }),
        listen: fc.record({ host: fc.constantFrom('::', '127.0.0.1', 'box', ''), port: fc.nat({ max: 65_535 }) }),
      }),
      (changes) => {
        const loaded = load('')
        const settings = { ...loaded.settings, ...changes }
        expect(load(completedYaml({ ...loaded, settings })).settings).toEqual(settings)
      },
    ), { numRuns: 50 })
  })

  it.each(['no', 'Off', 'yes', 'on', 'true', '12', '0x1f', '-', '_', 'null', '1e3'])('read the pool %s back as a text', (pool) => {
    const loaded = load('')
    const settings = { ...loaded.settings, pool }
    expect(load(completedYaml({ ...loaded, settings })).settings).toEqual(settings)
  })
})

describe('every setting', () => {
  const command = (...argv: readonly string[]): ReadonlyMap<string, string> =>
    settingsFlags(addSettingsOptions(new Command()).exitOverride().parse([...argv], { from: 'user' }).opts())

  it('is a flag of the same name, with its default in --help', () => {
    const help = addSettingsOptions(new Command()).helpInformation()
    for (const { name, default: fallback } of settingsTable()) {
      expect(help).toContain(`--${name} <`)
      if (fallback !== '') expect(help.replace(/\s+/g, ' ')).toContain(`(default: ${fallback})`)
    }
  })

  it('stands in the README as it is', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../src/config/README.md'), 'utf8')
    const rows = settingsTable().map(({ name, values, default: fallback, help }) => `| \`${name}\` | ${values.replaceAll('|', '\\|')} | ${fallback === '' ? '' : `\`${fallback}\``} | ${help} |\n`)
    expect(readme).toContain(rows.join(''))
  })

  it('is known by one name, and its default is a value that it takes', () => {
    expect(new Set(settingsTable().map(({ name }) => name)).size).toBe(settingKeys.length)
    for (const key of settingKeys) {
      const { name, kind, fallback } = SETTINGS[key] as { name: string; kind: { read(given: unknown): unknown; write(value: unknown): unknown }; fallback: unknown }
      const written = kind.write(fallback)
      if (written !== undefined) expect([name, kind.read(written)]).toEqual([name, fallback])
    }
  })

  it('given as a flag comes in as one, others do not', () => {
    expect([...command('--admin-listen', ':0', '--unreachable-first-backoff', '2s')]).toEqual([['admin-listen', ':0'], ['unreachable-first-backoff', '2s']])
    expect(command().size).toBe(0)
  })
})
