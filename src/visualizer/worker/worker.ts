import { SignalboxError } from '../../core/errors.ts'
import type { Answer, Ask } from './messages.ts'
import { Session } from './session.ts'

let current = 0

const tell = (answer: Answer): void => postMessage(answer)
const session = new Session((done, total) => tell({ id: current, kind: 'progress', done, total }))
let queue: Promise<void> = Promise.resolve()

// One question at a time: a pull must not take records while a seek stands in the middle of them.
addEventListener('message', ({ data }: MessageEvent<Ask>) => {
  queue = queue.then(() => answer(data))
})

const answer = async ({ id, name, given }: Ask): Promise<void> => {
  current = id
  try {
    tell({ id, kind: 'done', value: await ask(name, given) })
  } catch (error) {
    // An error that a user can act on tells its place and its fix beside the message.
    tell({ id, kind: 'failed', message: error instanceof SignalboxError ? error.toString() : error instanceof Error ? error.message : String(error) })
  }
}

const ask = (name: Ask['name'], given: readonly unknown[]): unknown => {
  const method = name === 'story' ? 'requestStory' : name
  return (session[method] as (...args: readonly unknown[]) => unknown).apply(session, [...given])
}
