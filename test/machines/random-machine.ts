/** Machines at random: nested and parallel states, guards and their combinations, `always`, `after`, `onDone`, finals. */

import fc from 'fast-check'
import { and, createMachine, not, or } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import type { Subject } from './agreement.ts'

const EVENTS = ['e0', 'e1', 'e2', 'e3', 'unheard-of']
const ACTIONS = ['a0', 'a1', 'a2', 'a3']
const GUARDS = ['g0', 'g1', 'g2', 'g3']

type Kind = 'atomic' | 'final' | 'compound' | 'parallel'

interface Shape {
  readonly kind: Kind
  readonly children: readonly Shape[]
  readonly initial: number
  readonly entry: readonly string[]
  readonly exit: readonly string[]
}

interface Wish {
  readonly source: number
  readonly on: string
  readonly target: number | null
  readonly reenter: boolean
  readonly guard: number | null
  readonly actions: readonly string[]
}

/** A state under construction, with what decides which transitions it may have. */
interface Draft {
  readonly kind: Kind
  readonly path: readonly string[]
  readonly config: Record<string, unknown>
  readonly isInitial: boolean
  readonly hasParallelInside: boolean
  /** Whether it lies outside the first region of a parallel state around it. */
  readonly isInLaterRegion: boolean
}

const few = (names: readonly string[], maxLength: number): fc.Arbitrary<string[]> =>
  fc.array(fc.constantFrom(...names), { maxLength })

const { shape } = fc.letrec<{ shape: Shape; leaf: Shape; branch: Shape }>((tie) => ({
  shape: fc.oneof({ maxDepth: 3, depthSize: 'small' }, tie('leaf'), tie('branch')),
  leaf: fc.record({
    kind: fc.constantFrom<Kind>('atomic', 'atomic', 'final'),
    children: fc.constant([]),
    initial: fc.constant(0),
    entry: few(ACTIONS, 2),
    exit: few(ACTIONS, 2),
  }),
  branch: fc.record({
    kind: fc.constantFrom<Kind>('compound', 'compound', 'parallel'),
    children: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    initial: fc.nat({ max: 2 }),
    entry: few(ACTIONS, 2),
    exit: few(ACTIONS, 2),
  }),
}))

const root: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constantFrom<Kind>('compound', 'parallel'),
  children: fc.array(shape, { minLength: 2, maxLength: 4 }),
  initial: fc.nat({ max: 3 }),
  entry: fc.constant([]),
  exit: few(ACTIONS, 1),
})

const wish: fc.Arbitrary<Wish> = fc.record({
  source: fc.nat({ max: 1_000 }),
  on: fc.constantFrom('e0', 'e0', 'e1', 'e1', 'e2', 'e3', '*', 'always', 'always', 'after 100', 'after named', 'done'),
  target: fc.option(fc.nat({ max: 1_000 }), { freq: 6 }),
  reenter: fc.boolean(),
  guard: fc.option(fc.nat({ max: 63 }), { freq: 2 }),
  actions: few(ACTIONS, 2),
})

/** A machine with what it needs to be run. */
export const randomSubject: fc.Arbitrary<Subject> = fc
  .tuple(root, fc.array(wish, { minLength: 4, maxLength: 30 }))
  .map(([shapes, wishes]) => ({
    machine: build(shapes, wishes),
    events: EVENTS,
    actions: ACTIONS,
    guards: GUARDS,
    // Grows with every action, so that it must be asked for at the right moment.
    delays: { named: (actor) => 10 * actor.actions.length },
    [fc.toStringMethod]: () => JSON.stringify({ shapes, wishes }),
  }))

function build(shapes: Shape, wishes: readonly Wish[]): AnyStateMachine {
  const drafts: Draft[] = []
  const config = draft(shapes, [], true, false, drafts)
  for (const each of wishes) grant(each, drafts)
  return createMachine({ ...config, id: 'm' }) as AnyStateMachine
}

function draft(
  shapes: Shape,
  path: readonly string[],
  isInitial: boolean,
  isInLaterRegion: boolean,
  drafts: Draft[],
): Record<string, unknown> {
  // A machine does not begin at an end of it.
  const kind = shapes.kind === 'final' && isInitial ? 'atomic' : shapes.kind
  const config: Record<string, unknown> = { exit: shapes.exit }
  if (!isInitial) config['entry'] = shapes.entry
  if (kind === 'final' || kind === 'parallel') config['type'] = kind
  drafts.push({ kind, path, config, isInitial, hasParallelInside: hasParallel(shapes), isInLaterRegion })
  const initial = shapes.initial % Math.max(1, shapes.children.length)
  const states = shapes.children.map((child, index) => {
    const childIsInitial = isInitial && (kind === 'parallel' || index === initial)
    const later = isInLaterRegion || (kind === 'parallel' && index > 0)
    return [`s${index}`, draft(child, [...path, `s${index}`], childIsInitial, later, drafts)] as const
  })
  if (states.length > 0) config['states'] = Object.fromEntries(states)
  if (kind === 'compound') config['initial'] = `s${initial}`
  return config
}

function hasParallel(shapes: Shape): boolean {
  return shapes.kind === 'parallel' || shapes.children.some(hasParallel)
}

function grant(each: Wish, drafts: readonly Draft[]): void {
  const source = drafts[each.source % drafts.length]
  const target = each.target === null ? undefined : drafts[each.target % drafts.length]
  if (source === undefined) return
  const transition = {
    ...(target === undefined ? {} : { target: `#${['m', ...target.path].join('.')}` }),
    ...(each.guard === null ? {} : { guard: guardOf(each.guard) }),
    // From inside to the machine itself there is only the way that reenters.
    reenter: each.reenter || (target?.path.length === 0 && source.path.length > 0),
    actions: each.actions,
  }
  const add = (table: Record<string, unknown>, key: string): void => {
    table[key] = [...((table[key] as unknown[] | undefined) ?? []), transition]
  }
  const within = (key: string): Record<string, unknown> => (source.config[key] ??= {}) as Record<string, unknown>
  if (each.on === 'always') {
    // Elsewhere its order depends on history, and interpreters refuse it.
    if (!source.isInitial && !source.isInLaterRegion && !source.hasParallelInside) add(source.config, 'always')
  } else if (each.on === 'done') {
    if (source.path.length > 0 && (source.kind === 'compound' || source.kind === 'parallel')) add(source.config, 'onDone')
  } else if (each.on.startsWith('after ')) {
    add(within('after'), each.on.slice('after '.length))
  } else {
    add(within('on'), each.on)
  }
}

function guardOf(code: number): unknown {
  const name = GUARDS[code % 4] ?? ''
  const other = GUARDS[(code >> 2) % 4] ?? ''
  switch (code >> 4) {
    case 0:
      return name
    case 1:
      return not(name)
    case 2:
      return and([name, or([other, not(name)])])
    default:
      return or([and([name, other]), not(or([name, other]))])
  }
}
