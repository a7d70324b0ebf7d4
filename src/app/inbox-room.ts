import { filter, firstValueFrom } from 'rxjs'
import type { EngineActor } from '../actors/engine-actor.ts'

/** Inputs that wait for the engine from which on feeds wait too: what they bring stays where it is, and never fills the inbox. */
export const INBOX_MAX = 1024

/** Undefined while the engine's inbox has room for what a feed brings; else resolves when it has, or takes nothing more. */
export const inboxRoom = (actor: EngineActor): Promise<void> | undefined => (actor.depth < INBOX_MAX ? undefined : roomAgain(actor))

const roomAgain = async (actor: EngineActor): Promise<void> => {
  await firstValueFrom(actor.turns.pipe(filter(() => actor.depth < INBOX_MAX)), { defaultValue: undefined })
}
