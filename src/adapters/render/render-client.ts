import { Agent, request } from 'undici'
import type { TokenizedPrompt } from '../../core/shape.ts'
import { rendered } from './rendered.ts'

export interface RenderOptions {
  /** Of the server, without the routes. */
  readonly url: string
  /** Asked for in place of the client's model. */
  readonly modelName: string
  readonly timeoutMs: number
  /** For prompts with media. */
  readonly mediaTimeoutMs: number
}

export interface RenderRequest {
  readonly kind: 'chat' | 'completions'
  /** JSON, as the client sent it. */
  readonly body: Uint8Array
  readonly hasMedia: boolean
}

const ROUTES = { chat: '/v1/chat/completions/render', completions: '/v1/completions/render' } as const

/** Bytes of an answer at most: a prompt of four million tokens, and the payload of its media beside it. */
const ANSWER_BYTES_MAX = 67_108_864

/** Connections at most: a renderer is a process of few cores. */
const CONNECTIONS_MAX = 64

/**
 * Asks a vLLM server which tokens a request's prompts are. What it answers stays in this process, and no error says
 * anything of the prompt. (llm-d: token-producer, vllm backend)
 */
export class RenderClient {
  private readonly options: RenderOptions
  private readonly agent = new Agent({ connections: CONNECTIONS_MAX, pipelining: 1 })

  constructor(options: RenderOptions) {
    this.options = { ...options, url: options.url.replace(/\/+$/, '') }
  }

  /** @throws Error where there is no answer in time or none that can be read */
  async render({ kind, body, hasMedia }: RenderRequest, signal: AbortSignal): Promise<readonly TokenizedPrompt[]> {
    const { url, timeoutMs, mediaTimeoutMs } = this.options
    const ms = hasMedia ? mediaTimeoutMs : timeoutMs
    const timeout = AbortSignal.timeout(ms)
    try {
      const response = await request(`${url}${ROUTES[kind]}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: this.bodyOf(body),
        dispatcher: this.agent,
        headersTimeout: 0,
        bodyTimeout: 0,
        signal: AbortSignal.any([signal, timeout]),
      })
      if (response.statusCode !== 200) {
        await response.body.dump()
        throw new Error(`the renderer answered ${response.statusCode}`)
      }
      return rendered(await answerOf(response.body))
    } catch (error) {
      if (timeout.aborted) throw new Error(`the renderer gave no answer within ${ms} ms`)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy()
  }

  private bodyOf(body: Uint8Array): string {
    const { stream: _stream, stream_options: _options, ...asked } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>
    return JSON.stringify({ ...asked, model: this.options.modelName })
  }
}

const answerOf = async (body: AsyncIterable<Buffer>): Promise<unknown> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.length
    if (length > ANSWER_BYTES_MAX) throw new Error(`the renderer's answer has more than ${ANSWER_BYTES_MAX} bytes`)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new Error("the renderer's answer is not JSON")
  }
}
