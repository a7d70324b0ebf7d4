import type { Answer, Ask, QuestionName, Questions } from '../worker/messages.ts'

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Asks the worker that replays. */
export class Client {
  private readonly worker = new Worker(new URL('../worker/worker.ts', import.meta.url), { type: 'module' })
  private readonly waiting = new Map<number, Waiting>()
  private last = 0

  constructor(onProgress: (done: number, total: number) => void) {
    this.worker.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
      if (data.kind === 'progress') {
        onProgress(data.done, data.total)
        return
      }
      const asked = this.waiting.get(data.id)
      this.waiting.delete(data.id)
      if (data.kind === 'done') asked?.resolve(data.value)
      else asked?.reject(new Error(data.message))
    })
    this.worker.addEventListener('error', (event) => {
      for (const { reject } of this.waiting.values()) reject(new Error(event.message))
      this.waiting.clear()
    })
  }

  ask<N extends QuestionName>(name: N, ...given: Parameters<Questions[N]>): Promise<ReturnType<Questions[N]>> {
    this.last += 1
    const ask: Ask = { id: this.last, name, given }
    return new Promise((resolve, reject) => {
      this.waiting.set(ask.id, { resolve: (value) => resolve(value as ReturnType<Questions[N]>), reject })
      this.worker.postMessage(ask)
    })
  }
}
