import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { headOf, markdownTable, plotOf, replaceBetweenMarks, runPolicy, shippedPolicies, workloadOf } from '../../../../src/app/comparison/index.ts'
import { spreadOf } from '../../../../src/app/comparison/figures.ts'
import type { PolicyFigures, Workload } from '../../../../src/app/comparison/index.ts'
import { axisOf } from '../../../../src/app/comparison/plot.ts'
import { load } from '../../../../src/app/load.ts'
import { compareCommand } from '../../../../src/cli/compare.ts'
import { readTrace } from '../../../../src/simulation/index.ts'
import type { TraceRequest } from '../../../../src/simulation/index.ts'
import { ROOT } from '../../../docs/repository.ts'
import { temporaryFolder } from '../../../story/server.ts'

const TRACE = join(ROOT, 'test/data/traces/mooncake-conversation.jsonl')
const FLEET = { prefill: 2, decode: 2, rolesets: 2, engine: 'vllm', timing: {} } as const

const slice = async (count: number): Promise<readonly TraceRequest[]> => {
  const requests: TraceRequest[] = []
  for await (const request of readTrace(TRACE)) if (requests.push(request) === count) break
  return requests
}

const played = async (workload: Workload, policies = shippedPolicies()): Promise<readonly PolicyFigures[]> => {
  const figures: PolicyFigures[] = []
  for (const { name, file } of policies) {
    const loaded = await load({ files: [file], flags: new Map(), pluginModules: [], allowExperimental: false, endpoints: undefined })
    figures.push(runPolicy({ name, loaded }, workload, FLEET, 7n, () => undefined))
  }
  return figures
}

describe('a comparison of policies', () => {
  let workload: Workload
  let figures: readonly PolicyFigures[]
  beforeAll(async () => {
    workload = workloadOf(await slice(16), { speed: 4, maxOutput: 8, timing: {} }, () => undefined)
    figures = await played(workload)
  })

  it('plays llm-d\'s and AIBrix\'s policies, and serves every request under each', () => {
    expect(figures.map(({ policy, router }) => [policy, router])).toEqual([
      ['aibrix-conductor', 'aibrix'], ['aibrix-least-request', 'aibrix'], ['aibrix-prefix-cache', 'aibrix'],
      ['llm-d-balanced', 'llm-d'], ['llm-d-load', 'llm-d'], ['llm-d-prefix-cache', 'llm-d'], ['random', 'llm-d'],
    ])
    for (const each of figures) expect(each).toMatchObject({ requests: 16, completed: 16, failed: 0 })
  })

  it('accounts for every token of the workload, whoever chose', () => {
    const { inputTokens, hitTokens } = workload.ceiling
    const outputTokens = workload.requests.reduce((sum, { work }) => sum + work.outputTokens, 0)
    for (const { endpoints, prefix, prefilledElsewhere, requests } of figures) {
      const sum = (field: 'computedTokens' | 'cachedTokens' | 'generatedTokens', role?: string): number => endpoints.filter((each) => role === undefined || each.role === role).reduce((total, each) => total + each[field], 0)
      expect(sum('computedTokens') + sum('cachedTokens')).toBe(inputTokens)
      expect(sum('cachedTokens') / inputTokens).toBeCloseTo(prefix.hitShare, 12)
      expect(sum('cachedTokens')).toBeLessThanOrEqual(hitTokens)
      expect(sum('generatedTokens', 'decode')).toBe(outputTokens)
      // A prefill elsewhere makes one token that nobody is sent.
      expect(sum('generatedTokens', 'prefill')).toBe(Math.round(prefilledElsewhere * requests))
    }
  })

  it('pairs within a roleset only where AIBrix chooses', () => {
    for (const { router, endpoints } of figures) {
      const requests = Object.fromEntries(endpoints.map(({ endpoint, requests: count }) => [endpoint.replace('default/', ''), count]))
      if (router === 'aibrix') expect([requests['prefill-0'], requests['prefill-1']]).toEqual([requests['decode-0'], requests['decode-1']])
    }
  })

  it('comes to the same again', async () => {
    const policies = shippedPolicies().filter(({ name }) => name === 'aibrix-conductor' || name === 'random')
    expect(await played(workload, policies)).toEqual([figures[0], figures[6]])
  })

  it('is drawn with the name and the figures of each policy, in the same bytes each time', () => {
    const picture = plotOf(figures, 'a < b')
    expect(plotOf(figures, 'a < b')).toBe(picture)
    expect(picture).not.toMatch(/NaN|undefined|Infinity|a < b/)
    for (const { policy, firstTokenMs } of figures) {
      expect(picture).toContain(`>${policy}</text>`)
      expect(picture).toContain(`>${firstTokenMs.p90?.toFixed(0) ?? ''}</text>`)
    }
  })
})

describe('the parts of a comparison', () => {
  it.each([
    [[0, 3447, 0, 100, 6], [0, 1000, 2000, 3000, 4000]],
    [[0, 0.294, 0, 100, 4], [0, 0.1, 0.2, 0.3]],
    [[1, 2.4, 0, 100, 4], [1, 1.5, 2, 2.5]],
    [[1, 1.1, 0, 100, 4], [1, 1.05, 1.1]],
    [[0, 0, 0, 100, 4], [0, 0]],
  ] as const)('an axis over %j has ticks at %j', ([least, most, left, right, steps], ticks) => {
    const axis = axisOf(least, most, left, right, steps)
    expect(axis.ticks.length).toBeLessThanOrEqual(steps + 1)
    expect([axis.at(axis.ticks[0] ?? NaN), Math.round(axis.at(axis.ticks.at(-1) ?? NaN))].every((pixel) => pixel >= left && pixel <= right)).toBe(true)
    if (most > least) expect(axis.ticks).toEqual(ticks)
  })

  it('balance is the most over the mean, and the deviation over the mean', () => {
    expect(spreadOf([1, 1, 1])).toEqual({ mostOverMean: 1, variation: 0 })
    expect(spreadOf([0, 2])).toEqual({ mostOverMean: 2, variation: 1 })
    expect(spreadOf([0, 0])).toEqual({ mostOverMean: null, variation: null })
    expect(spreadOf([])).toEqual({ mostOverMean: null, variation: null })
  })

  it('goes between the marks of a document, and nowhere else', () => {
    const document = 'a\n<!-- comparison: begin -->\nold\n<!-- comparison: end -->\nb\n'
    expect(replaceBetweenMarks(document, 'new', 'x.md')).toBe('a\n<!-- comparison: begin -->\nnew\n<!-- comparison: end -->\nb\n')
    for (const wrong of ['', '<!-- comparison: end -->\n<!-- comparison: begin -->']) expect(() => replaceBetweenMarks(wrong, 'new', 'x.md')).toThrow(/comparison: begin/)
  })
})

/** Calls the command in this process; what it printed and its exit code. */
const called = async (...args: readonly string[]): Promise<{ readonly code: unknown; readonly out: string; readonly errors: string }> => {
  const printed = { out: '', errors: '' }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((printed.out += String(text)), true)),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((printed.errors += String(text)), true)),
  ]
  const before = process.exitCode
  try {
    await compareCommand().parseAsync([...args], { from: 'user' })
    return { code: process.exitCode, ...printed }
  } finally {
    process.exitCode = before
    for (const spy of spies) spy.mockRestore()
  }
}

describe('signalbox compare', () => {
  const random = join(ROOT, 'deploy/config/policies/random.yaml')

  it('prints, draws and writes what it found', async () => {
    const folder = temporaryFolder()
    const [document, plot] = [join(folder.path, 'page.md'), join(folder.path, 'plot.svg')]
    writeFileSync(document, '# Page\n<!-- comparison: begin -->\n<!-- comparison: end -->\n')
    const { code, out, errors } = await called('--trace', TRACE, '--limit', '4', '--max-output', '4', '--config', `any=${random}`, '--config', random, '--plot', plot, '--markdown', document)
    expect([code, errors]).toEqual([0, ''])
    expect(out).toContain('4 requests of mooncake-conversation.jsonl, 4 prefill and 4 decode endpoints in 2 rolesets')
    expect(out).toMatch(/^any .*\nrandom /m)
    expect(readFileSync(document, 'utf8')).toMatch(/^# Page\n<!-- comparison: begin -->\n\n!\[.*\]\(plot\.svg\)\n\n4 requests of .*:\n\n\| policy \|[^]*\| `any` \|[^]*\| `random` \|/)
    expect(readFileSync(plot, 'utf8')).toContain('</svg>')
    folder.remove()
  })

  it.each([
    ['no trace there', ['--trace', 'nowhere.jsonl', '--config', random], 'nowhere.jsonl:1: not readable'],
    ['no request left', ['--trace', TRACE, '--config', random, '--offset', '200'], 'leaves no request'],
    ['a configuration that is not there', ['--trace', TRACE, '--config', 'nowhere.yaml'], 'nowhere.yaml'],
    ['a picture in no folder', ['--trace', TRACE, '--plot', 'nowhere/plot.svg'], 'nowhere/plot.svg'],
    ['a document without marks', ['--trace', TRACE, '--markdown', join(ROOT, 'LICENSE')], 'comparison: begin'],
  ])('%s is wrong usage', async (_case, args, message) => {
    const { code, errors } = await called(...args)
    expect(errors).toContain(message)
    expect(code).toBe(2)
  })

  it('says which requests no endpoint could hold, and ends with 1', async () => {
    const { code, out } = await called('--trace', TRACE, '--limit', '2', '--config', random, '--timing', 'blockCount=100')
    expect(out).toContain('random: 2 of 2 requests were not served')
    expect(code).toBe(1)
  })

  it('takes no configuration that needs what virtual time has not', async () => {
    const folder = temporaryFolder()
    const file = join(folder.path, 'counted.yaml')
    writeFileSync(file, readFileSync(random, 'utf8').replace('plugins:\n', 'plugins:\n- type: token-producer\n  parameters: { modelName: m, vllm: { url: "http://127.0.0.1:1" } }\n'))
    expect(await called('--trace', TRACE, '--limit', '1', '--config', file)).toMatchObject({ code: 2, errors: expect.stringContaining('counted: a comparison has no server that counts tokens') as string })
    folder.remove()
  })
})

describe('the comparison in the README', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const section = readme.slice(readme.indexOf('<!-- comparison: begin -->'), readme.indexOf('<!-- comparison: end -->'))
  const rows = [...section.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, name = '', cells = '']) => [name, ...cells.split(' | ')])

  it('has a row of figures for each policy that is shipped', () => {
    expect(section).toContain(markdownTable([]))
    expect(rows).toHaveLength(shippedPolicies().length)
    expect(new Set(rows.map(([name]) => name))).toEqual(new Set(shippedPolicies().map(({ name }) => name)))
    for (const row of rows) {
      expect(row).toHaveLength(headOf().length)
      expect(row.slice(1).join(' ')).toMatch(/^\d+ ms \d+ ms \d+\.\d ms \d+\.\d % \d+\.\d % \d\.\d\d \d\.\d\d$/)
    }
  })

  it('shows the picture of the same figures', () => {
    const [, path = ''] = /!\[[^\]]*\]\(([^)]+)\)/.exec(section) ?? []
    const picture = readFileSync(join(ROOT, path), 'utf8')
    for (const [name = '', p50 = '', p90 = '', , hits = ''] of rows) for (const shown of [name, p50.replace(' ms', ''), p90.replace(' ms', ''), hits]) expect(picture).toContain(`>${shown}</text>`)
  })
})
