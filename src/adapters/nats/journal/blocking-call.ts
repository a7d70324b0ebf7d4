import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { extname } from 'node:path'
import { ERRORS, SignalboxError } from '../../../core/errors.ts'
import type { ErrorCode } from '../../../core/errors.ts'

/** What a thread that answers blocking calls is started with. */
export interface AnswererData<T> {
  readonly port: MessagePort
  /** One 32-bit word: how many answers were given. */
  readonly signal: SharedArrayBuffer
  readonly given: T
}

/** One call; `method` names it. */
export interface Call {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

type Answer = { readonly id: number } & ({ readonly value: unknown } | { readonly code: string; readonly message: string })

/** A value whose memory goes over to the caller. */
export class Handed {
  readonly value: unknown
  readonly buffers: readonly ArrayBuffer[]

  constructor(value: unknown, buffers: readonly ArrayBuffer[]) {
    this.value = value
    this.buffers = buffers
  }
}

/**
 * Calls into a thread of its own and waits for the answer without giving the caller's thread free: for what must be
 * synchronous but can only be done asynchronously. Not for the thread that serves.
 */
export class BlockingCalls {
  private readonly worker: Worker
  private readonly port: MessagePort
  private readonly signal: Int32Array<SharedArrayBuffer>
  /** Answers that nobody has asked for yet, by call. */
  private readonly answers = new Map<number, Answer>()
  private readonly unwanted = new Set<number>()
  private called = 0

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
    return this.answer(this.begin(method, ...args))
  }

  /** Calls without waiting: the answer is made meanwhile. Gives what `answer` or `forget` want, one of which must follow. */
  begin(method: string, ...args: readonly unknown[]): number {
    this.called += 1
    this.port.postMessage({ id: this.called, method, args } satisfies Call)
    return this.called
  }

  /** Waits for the answer to a call that was begun. Throws as `call`. */
  answer(id: number): unknown {
    let answer = this.answers.get(id)
    while (answer === undefined) {
      const given = Atomics.load(this.signal, 0)
      this.receive()
      answer = this.answers.get(id)
      if (answer === undefined) Atomics.wait(this.signal, 0, given)
    }
    this.answers.delete(id)
    if ('value' in answer) return answer.value
    throw new SignalboxError(answer.code in ERRORS ? (answer.code as ErrorCode) : 'journal-write', answer.message)
  }

  /** The answer is not wanted any more. */
  forget(id: number): void {
    if (!this.answers.delete(id)) this.unwanted.add(id)
  }

  private receive(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.port) as { readonly message: Answer } | undefined
      if (received === undefined) return
      const { message } = received
      if (!this.unwanted.delete(message.id)) this.answers.set(message.id, message)
    }
  }

  close(): void {
    this.port.close()
    void this.worker.terminate()
  }
}

/** Answers the calls of the other side, each when its answer is there. */
export const answerCalls = <T>({ port, signal }: AnswererData<T>, answer: (call: Call) => Promise<unknown>): void => {
  const word = new Int32Array(signal)
  const give = (given: Answer, buffers: readonly ArrayBuffer[]): void => {
    port.postMessage(given, buffers)
    Atomics.add(word, 0, 1)
    Atomics.notify(word, 0)
  }
  port.on('message', (call: Call) => {
    const { id } = call
    answer(call).then(
      (value) => (value instanceof Handed ? give({ id, value: value.value }, value.buffers) : give({ id, value }, [])),
      (error: unknown) => give({ id, code: error instanceof SignalboxError ? error.code : 'journal-write', message: error instanceof Error ? error.message : String(error) }, []),
    )
  })
}
