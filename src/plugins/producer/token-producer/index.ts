import type { InferenceBody, PromptInput } from '../../../core/body.ts'
import { type DataKey, fromProducer, TOKENIZED_PROMPT } from '../../../core/attribute.ts'
import type { PluginContext, PluginType, Producer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request, RequestShape } from '../../../core/request.ts'
import { AWAITED_TOKENS, shape, type TokenizedPrompt, type TokenizedRequest, untokenized, type WantedKeys } from '../../../core/shape.ts'
import { Estimator, generateMedia } from './estimator.ts'
import { videoHints } from './media-tokens.ts'
import { type RenderParameters, type TokenParameters, tokenParameters } from './parameters.ts'

const TYPE = 'token-producer'

/** The body of a request, undefined where nobody read it. */
export interface Readable {
  readonly body: InferenceBody | undefined
}

/**
 * Makes tokens of requests. Front doors call it before the turn, since the engine takes shapes and never text; so its part
 * as a producer is to stand in the order of plugins. (llm-d: token-producer)
 */
export class TokenProducer implements Producer {
  readonly typedName: TypedName
  /** Where tokens are counted, unless they are estimated here. */
  readonly render: RenderParameters | undefined
  readonly answersWithinMs: number | undefined
  private readonly estimator: Estimator | undefined

  constructor(name: string, parameters: TokenParameters) {
    this.typedName = { type: TYPE, name }
    this.estimator = parameters.backend === 'estimate' ? new Estimator(parameters.estimate) : undefined
    this.render = parameters.backend === 'vllm' ? parameters.render : undefined
    this.answersWithinMs = this.render === undefined ? undefined : Math.max(this.render.timeoutMs, this.render.mediaTimeoutMs)
  }

  produces(): readonly DataKey<unknown>[] {
    return [fromProducer(TOKENIZED_PROMPT, this.typedName.name)]
  }

  /** Requests whose front door said that their tokens are being counted wait for that. */
  awaits({ shape: { tokenized, problem } }: Request): boolean {
    return this.render !== undefined && !tokenized && problem === AWAITED_TOKENS
  }

  /** Nothing to compute: the shape came with the request, or after it. */
  produce(_request: Request, _candidates: readonly Endpoint[]): void {}

  /**
   * Token ids of a request; header names in lower case. What came tokenized stays so, and gets the body's cache salt where
   * it has none.
   * @throws Error where there is no body or none that can be estimated.
   */
  tokenize(parsed: Readable, headers: ReadonlyMap<string, string>, already?: TokenizedRequest): TokenizedRequest {
    const { prompts, cacheSalt } = this.tokenized(parsed, headers, already)
    return { prompts: prompts.map(({ tokenIds, media }) => ({ tokenIds: tokenIds.slice(), media })), cacheSalt }
  }

  /**
   * The shape of a request: `tokenize` and `shape` in one, without a copy of the tokens. What fails is in its `problem`,
   * and so is that the tokens must be asked for.
   */
  shape(parsed: Readable, headers: ReadonlyMap<string, string>, model: string, wanted: readonly WantedKeys[], secret?: Uint8Array): RequestShape {
    let tokenized: TokenizedRequest
    try {
      tokenized = this.tokenized(parsed, headers)
    } catch (error) {
      return untokenized(error instanceof Error ? error.message : String(error))
    }
    return shape(tokenized, model, wanted, secret)
  }

  private tokenized({ body }: Readable, headers: ReadonlyMap<string, string>, already?: TokenizedRequest): TokenizedRequest {
    if (already !== undefined) return already.cacheSalt === '' ? { ...already, cacheSalt: body?.cacheSalt ?? '' } : already
    if (body === undefined) throw new Error('request body is nil')
    return { prompts: this.estimator?.prompts(body, videoHints(headers)) ?? givenTokens(body), cacheSalt: body.cacheSalt }
  }
}

/**
 * The prompts of a body that came as token ids: they need no asking.
 * @throws Error for other bodies; that the tokens are awaited is one of its messages.
 */
const givenTokens = (body: InferenceBody): readonly TokenizedPrompt[] => {
  switch (body.kind) {
    case 'generate':
      return [{ tokenIds: body.tokenIds, media: body.features === undefined ? [] : generateMedia(body.features) }]
    case 'completions':
      return promptsOf(body.prompt)
    case 'chat':
      throw new Error(AWAITED_TOKENS)
    default:
      throw new Error(`the vllm backend counts the tokens of chat and text completions, not of ${body.kind}`)
  }
}

const promptsOf = (prompt: PromptInput): readonly TokenizedPrompt[] => {
  if (prompt.form === 'tokens') return prompt.prompts.map((tokenIds) => ({ tokenIds, media: [] }))
  throw new Error(AWAITED_TOKENS)
}

const create = (context: PluginContext): TokenProducer => new TokenProducer(context.name, tokenParameters(context.parameters))

export const tokenProducer: PluginType = { type: TYPE, kinds: ['producer'], stability: 'beta', create }

/** The old name of the type. */
export const tokenizer: PluginType = {
  type: 'tokenizer',
  kinds: ['producer'],
  stability: 'beta',
  deprecated: { since: 'v0.9.0', removal: 'v0.11.0', replacement: TYPE },
  create,
}
