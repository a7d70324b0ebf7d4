import { VIEWS } from './link.ts'
import { at, choose, following, goTo, goToArrival, goToMark, goToSlow, goToStep, helpShown, lastPosition, span, theme, view } from './store.ts'

interface Key {
  readonly keys: readonly string[]
  readonly does: string
  run(event: KeyboardEvent): void
}

const THEMES = ['auto', 'light', 'dark'] as const

/** Every key, once: the help is written from it. With Shift the jumps go backwards. */
export const KEYS: readonly Key[] = [
  { keys: ['1', '2', '3', '4', '5'], does: 'the views', run: (event) => { view.value = VIEWS[Number(event.key) - 1] ?? 'fleet' } },
  { keys: ['ArrowLeft', 'ArrowRight'], does: 'a record back or on (ten with Shift)', run: (event) => goTo(at.value + (event.key === 'ArrowLeft' ? -1 : 1) * (event.shiftKey ? 10 : 1)) },
  { keys: ['n', 'p'], does: 'the next request, or the one before', run: (event) => goToArrival(event.key === 'n' ? 1 : -1) },
  { keys: ['.', ','], does: 'the next transition of the chosen request or endpoint, or the one before', run: (event) => goToStep(event.key === '.' ? 1 : -1) },
  { keys: ['r', 'R'], does: 'the next rejection (Shift: before)', run: (event) => goToMark('rejected', event.shiftKey ? -1 : 1) },
  { keys: ['e', 'E'], does: 'the next expiry', run: (event) => goToMark('expired', event.shiftKey ? -1 : 1) },
  { keys: ['d', 'D'], does: 'the next divergence', run: (event) => goToMark('diverged', event.shiftKey ? -1 : 1) },
  { keys: ['s', 'S'], does: 'the next slow request', run: (event) => goToSlow(event.shiftKey ? -1 : 1) },
  { keys: ['Home', 'End'], does: 'the first and the last record', run: (event) => goTo(event.key === 'Home' ? 1 : lastPosition.value) },
  { keys: [' '], does: 'pause and follow a running engine', run: () => { following.value = !following.value; if (following.value) at.value = lastPosition.value } },
  { keys: ['f'], does: 'all of the time', run: () => { span.value = undefined } },
  { keys: ['t'], does: 'light, dark or as the system has it', run: () => { theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'auto' } },
  { keys: ['Escape'], does: 'close what is open', run: () => { if (helpShown.value) helpShown.value = false; else choose(undefined) } },
  { keys: ['?'], does: 'this list', run: () => { helpShown.value = !helpShown.value } },
]

const WRITING = new Set(['INPUT', 'TEXTAREA', 'SELECT'])

/** Listens for keys wherever nobody is writing. */
export const listenForKeys = (): void => {
  addEventListener('keydown', (event) => {
    const target = event.target instanceof HTMLElement ? event.target : undefined
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (target !== undefined && WRITING.has(target.tagName) && event.key !== 'Escape') return
    if (event.key === ' ' && target?.tagName === 'BUTTON') return
    const found = KEYS.find(({ keys }) => keys.includes(event.key))
    if (found === undefined) return
    event.preventDefault()
    found.run(event)
  })
}
