import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseExposition, WantedFamilies } from '../../../../src/adapters/metrics-scrape/index.ts'
import type { Exposition } from '../../../../src/adapters/metrics-scrape/index.ts'
import { vllmExposition } from './vllm-exposition.ts'

const parse = (text: string, wanted: readonly string[], timestamps?: 'ms' | 's'): Exposition =>
  parseExposition(new TextEncoder().encode(text), new WantedFamilies(wanted), timestamps)

const samplesOf = ({ families }: Exposition, name: string): unknown[] =>
  (families.get(name)?.samples ?? []).map(({ labels, value, timestampMs }) => [Object.fromEntries(labels), value, ...(timestampMs === undefined ? [] : [timestampMs])])

describe('the text format', () => {
  it('reads wanted families with kind, labels, value and timestamp, and passes the rest over', () => {
    const text = '# HELP a What it is.\n# TYPE a gauge\na{x="1",y="two"} 3.5 1700000000000\na 4\n# TYPE b counter\nb 1\n'
    const read = parse(text, ['a'])
    expect([...read.families.keys()]).toEqual(['a'])
    expect(read.families.get('a')?.kind).toBe('gauge')
    expect(samplesOf(read, 'a')).toEqual([[{ x: '1', y: 'two' }, 3.5, 1_700_000_000_000], [{}, 4]])
    expect(read.faults).toEqual([])
  })

  it.each([
    ['1', 1],
    ['-0.5', -0.5],
    ['1e3', 1000],
    ['6.44530176e+09', 6_445_301_760],
    ['.5', 0.5],
    ['5.', 5],
    ['+7', 7],
    ['NaN', NaN],
    ['nan', NaN],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
    ['Inf', Infinity],
  ])('reads the number %s', (written, value) => {
    expect(samplesOf(parse(`a ${written}\n`, ['a']), 'a')).toEqual([[{}, value]])
  })

  it.each(['0x10', '1_000', 'None', 'e5', '--1', '1,5', '"1"'])('does not take %s for a number', (written) => {
    const read = parse(`a ${written}\n`, ['a'])
    expect(read.families.size).toBe(0)
    expect(read.faults).toEqual([{ line: 1, message: `a: "${written}" is not a number` }])
  })

  it('reads escapes, commas and braces in label values, blanks between the parts, and a comma behind the last label', () => {
    const text = 'a { x = "a\\"b\\\\c\\nd" , y="},{#", } \t 1\n'
    expect(samplesOf(parse(text, ['a']), 'a')).toEqual([[{ x: 'a"b\\c\nd', y: '},{#' }, 1]])
  })

  it('reads a value that ends in a backslash', () => {
    expect(samplesOf(parse('a{x="\\\\",y="1"} 1\n', ['a']), 'a')).toEqual([[{ x: '\\', y: '1' }, 1]])
  })

  it('reads labels beyond ASCII', () => {
    expect(samplesOf(parse('b 1\na{x="Zürich 🚂"} 1\n', ['a']), 'a')).toEqual([[{ x: 'Zürich 🚂' }, 1]])
  })

  it('reads lines that end in a carriage return, begin with blanks, or are empty', () => {
    const read = parse('#  TYPE  a  gauge\r\n\r\n  a 1\r\n\t\n', ['a'])
    expect(read.families.get('a')?.kind).toBe('gauge')
    expect(samplesOf(read, 'a')).toEqual([[{}, 1]])
    expect(read.faults).toEqual([])
  })

  it('calls a family without a type untyped', () => {
    expect(parse('a 1\n', ['a']).families.get('a')?.kind).toBe('untyped')
  })

  it('takes the type for a family whether it stands before or behind the samples', () => {
    expect(parse('a 1\n# TYPE a gauge\n', ['a']).families.get('a')?.kind).toBe('gauge')
  })

  it('keeps families apart whose names begin alike', () => {
    const read = parse('load 1\nload_total 2\nload:max 3\nloads 4\n', ['load', 'load_total'])
    expect(samplesOf(read, 'load')).toEqual([[{}, 1]])
    expect(samplesOf(read, 'load_total')).toEqual([[{}, 2]])
  })

  it('shows a histogram as one, so that nobody takes a bucket for a gauge', () => {
    const read = parse('# TYPE a histogram\na_bucket{le="1"} 2\na_sum 3\na_count 2\n', ['a'])
    expect(read.families.get('a')?.kind).toBe('histogram')
    expect(read.families.get('a')?.samples.map(({ name }) => name)).toEqual(['a_bucket', 'a_sum', 'a_count'])
  })

  it('reads the series of two engines in one exposition', () => {
    const text = `${vllmExposition({ waiting: 1 })}${vllmExposition({ waiting: 2 }).replaceAll('engine="0"', 'engine="1"')}`
    const read = parse(text, ['vllm:num_requests_waiting'])
    expect(read.families.get('vllm:num_requests_waiting')?.samples.map(({ labels, value }) => [labels.get('engine'), value])).toEqual([['0', 1], ['1', 2]])
  })
})

describe('OpenMetrics', () => {
  it('finds samples under their names with a suffix and under the name of the metric', () => {
    const text = '# TYPE jobs counter\n# UNIT jobs jobs\njobs_total 5\n# TYPE build info\nbuild_info{version="1"} 1\n# EOF\n'
    expect(parse(text, ['jobs_total']).families.get('jobs_total')?.kind).toBe('counter')
    expect(samplesOf(parse(text, ['jobs']), 'jobs')).toEqual([[{}, 5]])
    expect(parse(text, ['build_info']).families.get('build_info')?.kind).toBe('gauge')
    expect(parse(text, ['jobs_total', 'build_info']).faults).toEqual([])
  })

  it('passes exemplars over and takes timestamps for seconds', () => {
    const text = 'a_total 5 1700000000.25 # {trace_id="x"} 0.5 1700000000\na_total 6 # {} 1\n'
    expect(samplesOf(parse(text, ['a_total'], 's'), 'a_total')).toEqual([[{}, 5, 1_700_000_000_250], [{}, 6]])
  })
})

describe('what is wrong', () => {
  it.each([
    ['a{x="1" 1', 'no comma behind label x'],
    ['a{x="1', 'the value of label x does not end'],
    ['a{x=1} 1', 'the value of label x is not in quotes'],
    ['a{x} 1', 'a label without value'],
    ['a{x="1",x="2"} 1', 'label x stands twice'],
    ['a{9="1"} 1', '"9" is not a label name'],
    ['a{', 'the labels do not end'],
    ['a{x="1"}', '"" is not a number'],
    ['a 1 soon', '"soon" is not a timestamp'],
    ['a 1 2 3', '"3" behind the timestamp'],
    ['a-b 1', 'unexpected "-" behind the name'],
  ])('%s: %s', (line, message) => {
    const read = parse(`a{good="1"} 1\n${line}\na{good="2"} 2\n`, ['a'])
    expect(read.faults).toEqual([{ line: 2, message: `a: ${message}` }])
    expect(samplesOf(read, 'a')).toEqual([[{ good: '1' }, 1], [{ good: '2' }, 2]])
  })

  it('does not look at what nobody wants', () => {
    expect(parse('b{{{ x\na 1\n', ['a']).faults).toEqual([])
  })

  it('takes no value from a line that is cut off: 12 may have been 128', () => {
    const read = parse('# TYPE a gauge\na 7\nb 12', ['a', 'b'])
    expect([...read.families.keys()]).toEqual(['a'])
    expect(read.faults).toEqual([{ line: 3, message: 'the text ends within a line' }])
  })

  it('tells of the first faults and counts all', () => {
    const read = parse('a x\n'.repeat(100), ['a'])
    expect(read.faults).toHaveLength(8)
    expect(read.faultCount).toBe(100)
  })

  it('tells of a type that is none', () => {
    expect(parse('# TYPE a thing\na 1\n', ['a']).faults).toEqual([{ line: 1, message: 'unknown metric type "thing" of a' }])
  })

  it('cut anywhere, keeps exactly the lines that are whole', () => {
    const text = vllmExposition()
    const wanted = ['vllm:num_requests_waiting', 'vllm:num_requests_running', 'vllm:cache_config_info']
    const whole = parse(text, wanted)
    fc.assert(
      fc.property(fc.nat(text.length), (length) => {
        const cut = text.slice(0, length)
        const read = parse(cut, wanted)
        for (const [name, family] of read.families) expect(family.samples).toEqual(whole.families.get(name)?.samples)
        for (const name of wanted) expect(read.families.has(name)).toBe(text.indexOf('\n', text.indexOf(`\n${name}{`) + 1) < length)
      }),
    )
  })

  it('never fails on any bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom('a', 'a{', '"', '=', '}', '\n', ' ', '1', '# TYPE a ', ',', '\\'), fc.string()), { maxLength: 40 }), (parts) => {
        const read = parse(parts.join(''), ['a'])
        expect(read.faultCount).toBeGreaterThanOrEqual(read.faults.length)
      }),
    )
  })
})

describe('any samples', () => {
  it('come back as they were written', () => {
    const sample = fc.record({ labels: fc.dictionary(fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/), fc.string({ unit: 'binary' })), value: fc.double() })
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 8 }), (samples) => {
        const escaped = (text: string): string => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')
        const number = (value: number): string => (value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : String(value))
        const lines = samples.map(({ labels, value }) => `a{${Object.entries(labels).map(([name, text]) => `${name}="${escaped(text)}"`).join(',')}} ${number(value)}\n`)
        const read = parse(lines.join(''), ['a'])
        expect(read.faults).toEqual([])
        expect((read.families.get('a')?.samples ?? []).map(({ labels, value }) => [[...labels], value + 0])).toEqual(
          samples.map(({ labels, value }) => [Object.entries(labels), value + 0]),
        )
      }),
    )
  })
})
