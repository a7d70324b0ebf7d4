import type { RequestDesk } from '../actors/request-desk.ts'
import { RenderClient } from '../adapters/render/index.ts'
import type { InferenceBody, ParsedRequest, Part } from '../core/body.ts'
import { shape } from '../core/shape.ts'
import type { WantedKeys } from '../core/shape.ts'
import type { TokenProducer } from '../plugins/producer/token-producer/index.ts'
import type { RequestShape } from '../wire/request.ts'

export interface TokenCountingOptions {
  readonly tokens: TokenProducer
  readonly desk: Pick<RequestDesk, 'produced'>
  wanted(): readonly WantedKeys[]
  readonly secret: Uint8Array | undefined
}

/** Counts, for a request that was taken and waits; told its key, it reports by itself. */
export type Counting = (request: number, signal: AbortSignal) => void

/** Has the tokens of requests counted elsewhere; of the answer the engine takes the shape. */
export class TokenCounting {
  private readonly options: TokenCountingOptions
  private readonly client: RenderClient

  private constructor(options: TokenCountingOptions, client: RenderClient) {
    this.options = options
    this.client = client
  }

  /** Undefined where tokens are not counted elsewhere. */
  static of(options: Omit<TokenCountingOptions, 'tokens'> & { readonly tokens: TokenProducer | undefined }): TokenCounting | undefined {
    const { tokens } = options
    if (tokens?.render === undefined) return undefined
    return new TokenCounting({ ...options, tokens }, new RenderClient({ ...tokens.render, url: tokens.render.url }))
  }

  /** How to count this request's tokens; `model` is the one that the endpoint sees. `completed` adds what is known of the prompt without its tokens. */
  counting(parsed: ParsedRequest, model: string, body: Uint8Array, completed: (shape: RequestShape) => RequestShape): Counting {
    const { tokens, desk } = this.options
    const producer = tokens.typedName.name
    return (request, signal) => {
      this.shapeOf(parsed, model, body, signal).then(
        (counted) => desk.produced(request, producer, completed(counted), ''),
        // Who left is told otherwise, and nobody waits for the tokens any more.
        (error: unknown) => {
          if (!signal.aborted) desk.produced(request, producer, undefined, error instanceof Error ? error.message : String(error))
        },
      )
    }
  }

  async close(): Promise<void> {
    await this.client.close()
  }

  private async shapeOf({ body: { kind, cacheSalt }, body: parsed }: ParsedRequest, model: string, body: Uint8Array, signal: AbortSignal): Promise<RequestShape> {
    const prompts = await this.client.render({ kind: kind === 'chat' ? 'chat' : 'completions', body, hasMedia: hasMedia(parsed) }, signal)
    return shape({ prompts, cacheSalt }, model, this.options.wanted(), this.options.secret) as RequestShape
  }
}

const hasMedia = (body: InferenceBody): boolean =>
  body.kind === 'chat' && body.turns.some(({ content }) => typeof content !== 'string' && content.some(isMedia))

const isMedia = ({ type }: Part): boolean => type === 'image' || type === 'image-data' || type === 'video' || type === 'audio'
