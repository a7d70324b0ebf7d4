/**
 * Stand-ins for `setup`: they give a machine's names their types, and let XState's tools run the machine.
 * An interpreter never falls back on them: it refuses a machine whose names it was given no meaning for.
 */

const nothing = (): void => {}
const no = (): boolean => false

/** One action per name that does nothing. */
export function namedActions<Name extends string>(names: readonly Name[]): Record<Name, () => void> {
  return Object.fromEntries(names.map((name) => [name, nothing])) as Record<Name, () => void>
}

/** One guard per name that never holds. */
export function namedGuards<Name extends string>(names: readonly Name[]): Record<Name, () => boolean> {
  return Object.fromEntries(names.map((name) => [name, no])) as Record<Name, () => boolean>
}
