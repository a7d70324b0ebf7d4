import { expect } from 'vitest'
import { PendingDecodeTracker, pendingDecodesOn, PrefillRequestTracker, prefillsOn } from '../../src/aibrix/index.ts'
import { expectAsFile } from './aibrix-cases.ts'
import { forEachCase, type Case, type Difference } from './runner.ts'

interface Step {
  readonly do: 'start' | 'add' | 'remove'
  readonly pod?: string
  readonly requestId?: string
}
interface Story {
  readonly steps: readonly Step[]
  readonly watchPods: readonly string[]
}
interface Counter {
  add(id: string, pod: string): void
  remove(id: string): void
  count(pod: string): number
}

const tell = (counter: Counter, { steps, watchPods }: Story): readonly Readonly<Record<string, number>>[] =>
  steps.map((step) => {
    if (step.do === 'add') counter.add(step.requestId ?? '', step.pod ?? '')
    if (step.do === 'remove') counter.remove(step.requestId ?? '')
    return Object.fromEntries(watchPods.map((pod) => [pod, counter.count(pod)]))
  })

const prefill = (tracker: PrefillRequestTracker | undefined): Counter => ({
  add: (id, pod) => tracker?.addPrefillRequest(id, pod),
  remove: (id) => tracker?.removePrefillRequest(id),
  count: (pod) => prefillsOn(tracker as PrefillRequestTracker<never> | undefined, pod),
})
const pending = (tracker: PendingDecodeTracker | undefined): Counter => ({
  add: (id, pod) => tracker?.addPendingDecode(id, pod),
  remove: (id) => tracker?.removePendingDecode(id),
  count: (pod) => pendingDecodesOn(tracker as PendingDecodeTracker<never> | undefined, pod),
})

const prefillStory = ({ input, expected }: Case<unknown, Story>): void => expectAsFile(tell(prefill(new PrefillRequestTracker()), input), expected)
const pendingStory = ({ config, input, expected }: Case<{ nullReceiver: boolean }, Story>): void =>
  expectAsFile(tell(pending(config.nullReceiver ? undefined : new PendingDecodeTracker()), input), expected)

const NO_LEAK = 'a request counts once, on the pod it was assigned to last, and removing it leaves nothing'

/** The last state is all zeros: every id was removed; and no state has more than one count a live id. */
const leavesNothing = (counter: () => Counter): Difference => ({
  because: NO_LEAK,
  instead: ({ input }: Case<unknown, Story>): void => {
    const states = tell(counter(), input)
    const live = new Set<string>()
    input.steps.forEach((step, i) => {
      if (step.do === 'add') live.add(step.requestId ?? '')
      if (step.do === 'remove') live.delete(step.requestId ?? '')
      expect(Object.values(states[i] ?? {}).reduce((sum, count) => sum + count, 0)).toBe(live.size)
    })
  },
})

const handlers = {
  prefill: prefillStory,
  pendingDecode: pendingStory,
  concurrent: ({ config, input, expected }: Case<{ pairsPerWorker: number; workers: number }, { pods: readonly string[] }>): void => {
    const counters = [prefill(new PrefillRequestTracker()), pending(new PendingDecodeTracker())]
    for (const counter of counters) {
      for (let pair = 0; pair < config.pairsPerWorker; pair++) {
        for (let worker = 0; worker < config.workers; worker++) counter.add(`${worker}-${pair}`, input.pods[worker % input.pods.length] ?? '')
        for (let worker = config.workers - 1; worker >= 0; worker--) counter.remove(`${worker}-${pair}`)
      }
      expectAsFile(Object.fromEntries(input.pods.map((pod) => [pod, counter.count(pod)])), expected)
    }
  },
  invariant: ({ expected }: Case<unknown, unknown, { minCount: number }>): void => {
    const counters = [prefill(new PrefillRequestTracker()), pending(new PendingDecodeTracker())]
    for (const counter of counters) {
      counter.add('r1', 'a')
      for (const id of ['r1', 'r1', 'ghost', 'r1']) counter.remove(id)
      expect(counter.count('a')).toBe(expected.minCount)
    }
  },
}

forEachCase('aibrix-trackers.json', handlers, {
  'prefill: same id added twice to one pod leaks one count': leavesNothing(() => prefill(new PrefillRequestTracker())),
  'pendingDecode: same id added twice to one pod leaks one count': leavesNothing(() => pending(new PendingDecodeTracker())),
  'prefill tracker has no null-receiver guard': {
    because: 'an absent tracker of either kind counts 0',
    instead: () => expect(prefillsOn(undefined, 'a')).toBe(0),
  },
})
