import { endpointMachine } from '../../machines/endpoint/machine.ts'
import type { EndpointAction, EndpointDelay, EndpointGuard } from '../../machines/endpoint/machine.ts'
import { compile } from '../../machines/interpreter/compile.ts'
import type { Implementations, Interpreter } from '../../machines/interpreter/interpreter.ts'
import { createXStateInterpreter } from '../../machines/interpreter/xstate-actors.ts'
import { millis } from '../core/instant.ts'
import type { EngineContext } from './context.ts'
import type { EndpointActor, EndpointEvent } from './endpoint-actor.ts'

type Names = Implementations<EndpointActor, EndpointEvent, EndpointAction, EndpointGuard, EndpointDelay>

/** The endpoint machine, run as the options say. */
export const runEndpoints = (context: EngineContext): Interpreter<EndpointActor, EndpointEvent> => {
  const implementations: Names = {
    actions: actions(context),
    guards: { strikesOut: (actor) => actor.strikes + 1 >= context.settings.unreachable.strikes },
    delays: { backoff: (actor) => backoffMs(context, actor.backoffs) },
    schedule: (actor, _timer, delayMs) => {
      actor.timer = context.timers.schedule(context.at + millis(delayMs), 'endpoint', actor.endpoint.life, 'reachability.unreachable.backoff')
    },
    cancel: (actor) => {
      if (actor.timer !== undefined) context.timers.cancel(actor.timer)
      actor.timer = undefined
    },
  }
  const run = context.options.interpreter === 'table' ? compile : createXStateInterpreter
  return run(endpointMachine, implementations, context.options.watch?.endpoint)
}

/** Milliseconds out at the n-th time in a row, from 1: the first backoff, doubling up to the last. */
const backoffMs = (context: EngineContext, times: number): number => {
  const { firstBackoffMs, lastBackoffMs } = context.settings.unreachable
  let delay = firstBackoffMs
  for (let n = 1; n < times && delay < lastBackoffMs; n += 1) delay *= 2
  return Math.min(delay, lastBackoffMs)
}

const actions = (context: EngineContext): Names['actions'] => ({
  noteJoined: (actor) => {
    actor.joinedAt = context.at
  },
  noteReady: (actor) => {
    actor.ready = true
    context.fleet.changed()
  },
  noteDraining: (actor) => {
    actor.ready = false
    context.fleet.changed()
  },
  noteLeft: (actor) => {
    actor.ready = false
    context.fleet.changed()
  },
  countStrike: (actor) => {
    actor.strikes += 1
  },
  clearStrikes: (actor) => {
    actor.strikes = 0
    actor.backoffs = 0
  },
  takeOut: (actor) => {
    actor.unreachable = true
    actor.backoffs += 1
    context.fleet.changed()
  },
  bringBack: (actor) => {
    // One more failure takes it out again, for longer: it is on probation until an attempt succeeds.
    actor.strikes = Math.max(0, context.settings.unreachable.strikes - 1)
    if (actor.backoffs === 0) actor.strikes = 0
    actor.unreachable = false
    context.fleet.changed()
  },
  noteFresh: (actor) => {
    actor.fresh = true
  },
  noteStale: (actor) => {
    actor.fresh = false
  },
  noteLoad: () => undefined,
})
