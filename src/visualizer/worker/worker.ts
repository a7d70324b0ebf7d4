import { SignalboxError } from '../../core/errors.ts'
import type { Advance, Answer, Ask, Story } from './messages.ts'
import { Session } from './session.ts'
import { buffersOf } from './story.ts'

let current = 0

const tell = (answer: Answer, story?: Story): void => postMessage(answer, { transfer: story === undefined ? [] : buffersOf(story) })
const session = new Session((done, total) => tell({ id: current, kind: 'progress', done, total }))
let queue: Promise<void> = Promise.resolve()

// One question at a time: a pull must not take records while a seek stands in the middle of them.
addEventListener('message', ({ data }: MessageEvent<Ask>) => {
  queue = queue.then(() => answer(data))
})

const answer = async ({ id, name, given }: Ask): Promise<void> => {
  current = id
  try {
    const value = await ask(name, given)
    tell({ id, kind: 'done', value }, storyIn(name, value))
  } catch (error) {
    // An error that a user can act on tells its place and its fix beside the message.
    tell({ id, kind: 'failed', message: error instanceof SignalboxError ? error.toString() : error instanceof Error ? error.message : String(error) })
  }
}

/** The story that an answer holds. */
const storyIn = (name: Ask['name'], value: unknown): Story | undefined =>
  name === 'advance' ? (value as Advance).story : name === 'open' || name === 'pull' ? (value as Story | undefined) : undefined

const ask = (name: Ask['name'], given: readonly unknown[]): unknown => {
  const method = name === 'story' ? 'requestStory' : name
  return (session[method] as (...args: readonly unknown[]) => unknown).apply(session, [...given])
}
