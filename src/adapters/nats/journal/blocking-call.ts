import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { extname } from 'node:path'
import { ERRORS, SignalboxError } from '../../../core/errors.ts'
import type { ErrorCode } from '../../../core/errors.ts'

/** What a thread that answers blocking calls is started with. */
export interface AnswererData<T> {
  readonly port: MessagePort
  /** One 32-bit word: 1 when an answer is there. */
  readonly signal: SharedArrayBuffer
  readonly given: T
}

/** One call; `method` names it. */
export interface Call {
  readonly method: string
  readonly args: readonly unknown[]
}

export type Answer = { readonly value: unknown } | { readonly code: string; readonly message: string }

/**
 * Calls into a thread of its own and waits for the answer without giving the caller's thread free: for what must be
 * synchronous but can only be done asynchronously. Not for the thread that serves.
 */
export class BlockingCalls {
  private readonly worker: Worker
  private readonly port: MessagePort
  private readonly signal: Int32Array<SharedArrayBuffer>

  constructor(module: string, given: unknown) {
    const channel = new MessageChannel()
    const signal = new SharedArrayBuffer(4)
    this.port = channel.port1
    this.signal = new Int32Array(signal)
    const data: AnswererData<unknown> = { port: channel.port2, signal, given }
    this.worker = new Worker(new URL(`./${module}${extname(import.meta.url)}`, import.meta.url), { workerData: data, transferList: [channel.port2] })
  }

  /** Throws the `SignalboxError` that the other side threw. */
  call(method: string, ...args: readonly unknown[]): unknown {
    Atomics.store(this.signal, 0, 0)
    this.port.postMessage({ method, args } satisfies Call)
    Atomics.wait(this.signal, 0, 0)
    const answer = (receiveMessageOnPort(this.port) as { readonly message: Answer } | undefined)?.message
    if (answer === undefined) throw new SignalboxError('journal-write', 'the thread that speaks to the NATS server is gone')
    if ('value' in answer) return answer.value
    throw new SignalboxError(answer.code in ERRORS ? (answer.code as ErrorCode) : 'journal-write', answer.message)
  }

  close(): void {
    this.port.close()
    void this.worker.terminate()
  }
}

/** Answers the calls of the other side, one at a time. */
export const answerCalls = <T>({ port, signal }: AnswererData<T>, answer: (call: Call) => Promise<unknown>): void => {
  const word = new Int32Array(signal)
  port.on('message', (call: Call) => {
    answer(call)
      .then((value): Answer => ({ value }))
      .catch((error: unknown): Answer => ({ code: error instanceof SignalboxError ? error.code : 'journal-write', message: error instanceof Error ? error.message : String(error) }))
      .then((result) => {
        port.postMessage(result)
        Atomics.store(word, 0, 1)
        Atomics.notify(word, 0)
      }, () => undefined)
  })
}
