import { describe, expect, it } from 'vitest'
import { and, createMachine, not, or } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import { toGraph } from '../../machines/diagram/graph.ts'
import { durationText, toMermaid } from '../../machines/diagram/mermaid.ts'
import { toXStateJson } from '../../machines/diagram/xstate-json.ts'
import { expectAgreement } from './agreement.ts'
import { readReadme, withDiagram } from './readme.ts'
import { endpoint, journalLink, request } from './subjects.ts'

const folders = [
  ['request', request],
  ['endpoint', endpoint],
  ['journal-link', journalLink],
] as const

describe.each(folders)('the README of %s', (folder, { machine, events, actions, guards }) => {
  it('shows the machine as it is (else run `node test/machines/write-diagrams.ts`)', () => {
    const readme = readReadme(folder)
    expect(readme).toBe(withDiagram(readme, machine))
  })

  it('explains every name and no other', () => {
    const prose = readReadme(folder).split('## Diagram')[0] ?? ''
    const explained = (title: string): string[] => {
      const section = prose.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? ''
      const firstCells = section.split('\n').filter((line) => line.startsWith('| `')).map((line) => line.split('|')[1] ?? '')
      return firstCells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')).sort()
    }
    expect(explained('Events')).toEqual([...events].sort())
    expect(explained('Actions')).toEqual([...actions].sort())
    expect(explained('Guards')).toEqual([...guards].sort())
    expect(explained('Delays')).toEqual(Object.keys(machine.implementations.delays).sort())
    for (const { kind, key } of toGraph(machine).nodes.filter((node) => node.parent !== null)) {
      if (kind === 'atomic' || kind === 'final') expect(prose).toMatch(new RegExp(`\`(\\w+\\.)?${key}\``))
    }
  })

  it('has no name that the machine does not use', () => {
    const { nodes, edges } = toGraph(machine)
    const used = new Set([...nodes.flatMap((node) => [...node.entry, ...node.exit]), ...edges.flatMap((edge) => edge.actions)])
    expect([...used].sort()).toEqual([...actions].sort())
    const guarded = new Set(edges.flatMap((edge) => edge.guard ?? []))
    expect([...guarded].sort()).toEqual([...guards].sort())
    const heard = new Set(edges.flatMap(({ trigger }) => (trigger.kind === 'event' ? [trigger.type] : [])))
    expect([...heard].sort()).toEqual([...events].sort())
  })
})

const sample = createMachine({
  id: 'sample',
  initial: 'off',
  on: { '*': { actions: 'shrug' } },
  states: {
    off: { description: 'nothing runs', on: { start: { target: 'on', guard: and([not('isLate'), or(['isBig', 'isRich'])]) } } },
    on: {
      type: 'parallel',
      exit: 'tidy',
      onDone: 'off',
      after: { 90_000: 'off', 1_500: { actions: 'blink' } },
      states: {
        heat: { initial: 'cold', states: { cold: { always: { guard: 'isHot', target: 'warm' } }, warm: { type: 'final' } } },
        fan: { initial: 'still', on: { stop: '.still' }, states: { still: { on: { turn: 'turning' } }, turning: { entry: 'hum' } } },
      },
    },
  },
} as never) as AnyStateMachine

describe('the graph of a machine', () => {
  it('has every state once, with its place', () => {
    const { nodes } = toGraph(sample)
    expect(nodes.map(({ id, parent, kind, isInitial }) => [id, parent, kind, isInitial])).toEqual([
      ['', null, 'compound', false],
      ['off', '', 'atomic', true],
      ['on', '', 'parallel', false],
      ['on.heat', 'on', 'compound', false],
      ['on.heat.cold', 'on.heat', 'atomic', true],
      ['on.heat.warm', 'on.heat', 'final', false],
      ['on.fan', 'on', 'compound', false],
      ['on.fan.still', 'on.fan', 'atomic', true],
      ['on.fan.turning', 'on.fan', 'atomic', false],
    ])
    expect(nodes[1]?.description).toBe('nothing runs')
    expect(nodes[2]?.exit).toEqual(['tidy'])
  })

  it('has every transition, those of `always`, `after` and completion included', () => {
    const { edges } = toGraph(sample)
    expect(edges.map(({ id, trigger, targets }) => [id, trigger.kind, targets])).toEqual([
      [':*:0', 'event', []],
      ['off:start:0', 'event', ['on']],
      ['on:xstate.done.state.sample.on:0', 'done', ['off']],
      ['on:xstate.after.1500.sample.on:0', 'after', []],
      ['on:xstate.after.90000.sample.on:0', 'after', ['off']],
      ['on.heat.cold::0', 'always', ['on.heat.warm']],
      ['on.fan:stop:0', 'event', ['on.fan.still']],
      ['on.fan.still:turn:0', 'event', ['on.fan.turning']],
    ])
    expect(edges[1]?.guard).toBe('not isLate and (isBig or isRich)')
    expect(edges[4]?.trigger).toEqual({ kind: 'after', delay: '90000', ms: 90_000 })
  })

  it('knows the constant delays of named timers', () => {
    const after = toGraph(request.machine).edges.flatMap(({ trigger }) => (trigger.kind === 'after' ? [[trigger.delay, trigger.ms]] : []))
    expect(after).toEqual([
      ['producerTimeout', 400],
      ['sentTimeout', 30_000],
      ['firstTokenTimeout', 600_000],
      ['silenceTimeout', 300_000],
    ])
  })
})

describe('the diagram of a machine', () => {
  it('draws nested states, regions, guards, times and what leaves the states alone', () => {
    expect(toMermaid(sample)).toBe(
      `stateDiagram-v2
  state "sample; any event / shrug" as sample {
    state "off" as off
    state "on; exit / tidy; after 1500 ms / blink" as on {
      state "heat" as on_heat {
        state "cold" as on_heat_cold
        state "warm" as on_heat_warm
        [*] --> on_heat_cold
        on_heat_cold --> on_heat_warm: always [isHot]
        on_heat_warm --> [*]
      }
      --
      state "fan" as on_fan {
        state "still" as on_fan_still
        state "turning" as on_fan_turning
        on_fan_turning: entry / hum
        [*] --> on_fan_still
        on_fan_still --> on_fan_still: stop
        on_fan_turning --> on_fan_still: stop
        on_fan_still --> on_fan_turning: turn
      }
    }
    [*] --> off
    off --> on: start [not isLate and (isBig or isRich)]
    on --> off: done
    on --> off: after 90 s
  }
`,
    )
  })

  it('says durations as a person would', () => {
    expect([0, 400, 1_000, 1_500, 30_000, 60_000, 90_000, 600_000].map(durationText)).toEqual([
      '0 ms', '400 ms', '1 s', '1500 ms', '30 s', '1 min', '90 s', '10 min',
    ])
  })
})

describe('the JSON of a machine', () => {
  it.each([request, endpoint, journalLink].map((subject) => [subject.machine.id, subject] as const))(
    'opens as the same machine %s',
    (_id, subject) => {
      const json: unknown = JSON.parse(JSON.stringify(toXStateJson(subject.machine)))
      const opened = createMachine(json as never).provide({ delays: subject.machine.implementations.delays } as never) as AnyStateMachine
      expect(toGraph(opened)).toEqual(toGraph(subject.machine))
      const story = subject.events.map((_, choice) => ({ what: 'send', choice, mask: 0x5555 }) as const)
      expectAgreement({ ...subject, machine: opened }, story)
    },
  )

  it('keeps completion, times, wildcards and descriptions, and names combined guards', () => {
    expect(toXStateJson(sample)).toMatchObject({
      id: 'sample',
      initial: 'off',
      on: { '*': [{ actions: ['shrug'] }] },
      states: {
        off: { description: 'nothing runs', on: { start: [{ target: '#sample.on', guard: 'not isLate and (isBig or isRich)' }] } },
        on: {
          type: 'parallel',
          exit: ['tidy'],
          after: { 1500: [{ actions: ['blink'] }], 90000: [{ target: '#sample.off' }] },
          onDone: [{ target: '#sample.off' }],
          states: { heat: { states: { cold: { always: [{ target: '#sample.on.heat.warm', guard: 'isHot' }] }, warm: { type: 'final' } } } },
        },
      },
    })
  })
})
