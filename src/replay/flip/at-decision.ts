import type { Admitter } from '../../core/contract.ts'
import type { Endpoint } from '../../core/endpoint.ts'
import type { Request } from '../../core/request.ts'
import type { Engine } from '../../engine/engine.ts'
import type { EngineOptions } from '../../engine/context.ts'
import type { StateAt } from '../../journal/state-message.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { engineAt } from '../engine-at.ts'

/**
 * Takes a record again and looks in at the moment at which a request's data is there and nothing is picked yet. The engine
 * is thrown away afterwards: whoever looks may change what it holds.
 */
export const atDecision = (options: EngineOptions, before: StateAt, record: JournalRecord, request: number, look: (engine: Engine, request: Request, candidates: readonly Endpoint[]) => void): void => {
  let engine: Engine | undefined = undefined
  let done = false
  const trial: Admitter = {
    typedName: { type: 'flip-trial', name: 'flip-trial' },
    admit: (scheduled, candidates) => {
      if (engine !== undefined && !done && keyOf(engine, scheduled) === request) {
        done = true
        look(engine, scheduled, candidates)
      }
      return undefined
    },
  }
  engine = engineAt({ ...options, extraPlugins: [...(options.extraPlugins ?? []), () => trial] }, before)
  engine.step(record.input ?? { input: undefined }, record.atUs)
}

const keyOf = (engine: Engine, request: Request): number => [...engine.view.requests.values()].find((each) => each === request)?.key ?? 0
