import { batch, computed, effect, signal } from '@preact/signals'
import type { ReadonlySignal, Signal } from '@preact/signals'
import { MARKS } from '../../replay/timeline/timeline.ts'
import type { Look, Source, Story } from '../worker/messages.ts'
import { Client } from './client.ts'
import { linkTo, placeOf } from './link.ts'
import type { View } from './link.ts'
import { nextWhere } from './search.ts'

const place = placeOf(location.hash)

export const story: Signal<Story | undefined> = signal(undefined)
export const view: Signal<View> = signal(place.view)
/** Position of the record at the cursor. */
export const at: Signal<number> = signal(place.at ?? 0)
/** Whether the cursor stays at the newest record. */
export const following: Signal<boolean> = signal(place.at === undefined)
export const chosen: Signal<number | undefined> = signal(place.request)
/** Stretch of time shown; undefined for all of it. */
export const span: Signal<readonly [number, number] | undefined> = signal(place.span)
export const collapseIdle: Signal<boolean> = signal(true)
export const helpShown: Signal<boolean> = signal(false)
export const progress: Signal<{ readonly done: number; readonly total: number } | undefined> = signal(undefined)
export const failure: Signal<string> = signal('')
export const look: Signal<Look | undefined> = signal(undefined)
export const theme: Signal<'auto' | 'light' | 'dark'> = signal(storedTheme())

export const client: Client = new Client((done, total) => {
  progress.value = { done, total }
})

/** Position up to which the worker has decided again. */
export const decidedPosition: Signal<number> = signal(0)
export const lastPosition: ReadonlySignal<number> = computed(() => story.value?.info.lastPosition ?? 0)
export const firstPosition: ReadonlySignal<number> = computed(() => story.value?.info.firstPosition ?? 1)

function storedTheme(): 'auto' | 'light' | 'dark' {
  const stored = localStorage.getItem('signalbox-theme')
  return stored === 'light' || stored === 'dark' ? stored : 'auto'
}

/** Opens a journal; a link's position is kept where the journal holds it. */
export const open = async (source: Source): Promise<void> => {
  progress.value = { done: 0, total: 1 }
  failure.value = ''
  try {
    const opened = await client.ask('open', source)
    batch(() => {
      story.value = opened
      decidedPosition.value = opened.info.decidedPosition
      if (following.value || at.value === 0) at.value = opened.info.lastPosition
      else at.value = Math.min(Math.max(at.value, opened.info.firstPosition), opened.info.lastPosition)
    })
    progress.value = undefined
    await advance()
    if (opened.info.live) void tail()
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error)
  } finally {
    progress.value = undefined
  }
}

/** Lets the worker decide all of the journal again; meanwhile the page shows what was recorded. */
const advance = async (): Promise<void> => {
  for (;;) {
    const { position, more, story: whole } = await client.ask('advance')
    decidedPosition.value = position
    if (whole !== undefined) {
      const { divergence, lastPosition: last } = whole.info
      const found = divergence !== undefined && story.value?.info.divergence === undefined
      batch(() => {
        story.value = whole
        if (found && place.at === undefined && (following.value || at.value === last)) goTo(divergence.position, 'records')
      })
    }
    if (!more) return
  }
}

/** Between two questions after new records, but ten times as long as the last answer took: a long story is not asked for all the time. */
const TAIL_MS = 500

/** Follows a running engine; the page asks no more while nobody sees it. */
const tail = async (): Promise<void> => {
  for (let took = 0; ;) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(TAIL_MS, 10 * took)))
    if (document.hidden) await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
    try {
      const begun = performance.now()
      const newer = await client.ask('pull')
      took = performance.now() - begun
      progress.value = undefined
      failure.value = ''
      if (newer === undefined) continue
      batch(() => {
        story.value = newer
        decidedPosition.value = newer.info.decidedPosition
        if (following.value) at.value = newer.info.lastPosition
      })
    } catch (error) {
      failure.value = `the engine does not answer: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}

/** Moves the cursor, and stops following. */
export const goTo = (position: number, to?: View): void => {
  batch(() => {
    following.value = position >= lastPosition.value && story.value?.info.live === true
    at.value = Math.min(Math.max(position, firstPosition.value), lastPosition.value)
    if (to !== undefined) view.value = to
  })
}

export const choose = (request: number | undefined): void => {
  chosen.value = request
}

/** Moves to the next record (or the one before) that is remarkable for something. */
export const goToMark = (mark: keyof typeof MARKS, direction: 1 | -1): void => {
  const records = story.value?.records
  if (records === undefined) return
  const found = nextWhere(records.marks.length, at.value - records.first, direction, (i) => ((records.marks[i] as number) & MARKS[mark]) !== 0)
  if (found !== undefined) goTo(records.first + found)
}

/** Moves to the next arrival, or the one before. */
export const goToArrival = (direction: 1 | -1): void => {
  const records = story.value?.records
  if (records === undefined) return
  const found = nextWhere(records.request.length, at.value - records.first, direction, (i) => records.request[i] === records.first + i)
  if (found === undefined) return
  goTo(records.first + found)
  choose(records.first + found)
}

/** The actor whose machine is looked at; undefined where none is. */
export const actorShown: Signal<{ readonly machine: 'request' | 'endpoint'; readonly actor: number | string } | undefined> = signal(undefined)

/** Whose transitions are stepped through: the actor of the machines view, elsewhere the chosen request. */
export const stepping = computed(() => (view.value === 'machines' ? actorShown.value : chosen.value === undefined ? undefined : { machine: 'request' as const, actor: chosen.value }))

/** Moves to the next transition of the actor looked at, or to the one before. */
export const goToStep = (direction: 1 | -1): void => {
  const whose = stepping.value
  if (whose === undefined) return
  client.ask('step', whose.machine, whose.actor, at.value, direction).then((position) => {
    if (position !== undefined) goTo(position)
  }).catch((error: unknown) => {
    failure.value = String(error)
  })
}

/** Moves to the next arrival whose first token took longer than nine in ten. */
export const goToSlow = (direction: 1 | -1): void => {
  const requests = story.value?.requests
  if (requests === undefined) return
  const waits = requests.key.map((_, i) => (requests.firstByteAt[i] as number) - (requests.receivedAt[i] as number))
  const sorted = waits.filter((each) => !Number.isNaN(each)).sort()
  const slow = sorted[Math.floor(sorted.length * 0.9)] ?? Infinity
  const places = [...requests.key].map((key, i) => ({ key, slow: (waits[i] as number) >= slow })).filter((each) => each.slow)
  const next = direction > 0 ? places.find(({ key }) => key > at.value) : places.findLast(({ key }) => key < at.value)
  if (next === undefined) return
  goTo(next.key)
  choose(next.key)
}

let looking = false
let wanted: number | undefined = undefined

/** Asks for the engine at the cursor; while an answer is awaited only the newest wish is kept. */
const lookAt = async (position: number): Promise<void> => {
  wanted = position
  if (looking) return
  looking = true
  try {
    while (wanted !== undefined) {
      const asked: number = wanted
      wanted = undefined
      look.value = await client.ask('look', asked)
    }
  } catch (error) {
    failure.value = error instanceof Error ? error.message : String(error)
  } finally {
    looking = false
  }
}

/** Whether the engine at the cursor can be asked about now: asked again once it can. */
const decidedThere: ReadonlySignal<boolean> = computed(() => at.value <= decidedPosition.value)

effect(() => {
  void decidedThere.value
  if (story.value !== undefined && at.value > 0) void lookAt(at.value)
})

/** The address follows the page, but not at every frame of a movement: browsers bear some hundred changes a minute. */
const LINK_MS = 150

let linking = false

effect(() => {
  void [story.value, view.value, following.value, at.value, chosen.value, span.value]
  if (linking) return
  linking = true
  setTimeout(() => {
    linking = false
    const link = linkTo({ view: view.value, at: following.value ? undefined : at.value, request: chosen.value, span: span.value })
    if (story.value !== undefined && location.hash !== link) history.replaceState(null, '', link)
  }, LINK_MS)
})

effect(() => {
  if (theme.value === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
  localStorage.setItem('signalbox-theme', theme.value)
})

addEventListener('hashchange', () => {
  const to = placeOf(location.hash)
  batch(() => {
    view.value = to.view
    chosen.value = to.request
    span.value = to.span
    if (to.at !== undefined) goTo(to.at)
  })
})
