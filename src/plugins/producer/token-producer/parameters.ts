import { SignalboxError } from '../../../core/errors.ts'
import { anything, type Decoded, decodeParametersOf, int, number, object, optionalObject, ParameterError, text } from '../../../core/parameters.ts'
import { durationMs } from '../../../core/duration.ts'

const size = object({ width: int(0), height: int(0) })

const ESTIMATE = {
  image: object({
    mode: text(''),
    defaultResolution: size,
    static: object({ staticToken: int(0) }),
    dynamic: object({ factor: int(0) }),
  }),
  video: object({
    defaultResolution: size,
    defaultDuration: number(0),
    tokensPerFrame: object({ mode: text(''), static: object({ numTokensPerFrame: int(0) }), dynamic: object({ factor: int(0) }) }),
    frames: object({
      mode: text(''),
      minFrames: int(0),
      maxFrames: int(0),
      sampled: object({ sampleFPS: number(0), temporalPatchSize: int(0) }),
      strided: object({ defaultSourceFPS: number(0), frameStride: int(0) }),
    }),
    maxVideoTokens: int(0),
  }),
}

const VLLM = { url: text('http://localhost:8000'), timeout: durationMs(5000), mmTimeout: durationMs(30_000) }

const FIELDS = {
  modelName: text(''),
  estimate: optionalObject(ESTIMATE),
  vllm: optionalObject(VLLM),
  udsTokenizerConfig: anything,
}

/** How tokens are estimated; 0 and '' stand for the default. */
export type EstimateParameters = Decoded<typeof ESTIMATE>

/** Where vLLM's render routes are, and how long they may take. (llm-d: token-producer, vllm backend) */
export interface RenderParameters {
  /** The model that the routes are asked for. */
  readonly modelName: string
  readonly url: string
  readonly timeoutMs: number
  /** For prompts with media. */
  readonly mediaTimeoutMs: number
}

export type TokenParameters =
  | { readonly backend: 'estimate'; readonly estimate: EstimateParameters }
  | { readonly backend: 'vllm'; readonly render: RenderParameters }

/**
 * Reads and checks the parameters.
 * @throws ParameterError, or SignalboxError (config-plugin-not-built) for a backend that is not built.
 */
export const tokenParameters = (parameters: unknown): TokenParameters => {
  const { modelName, estimate, vllm, udsTokenizerConfig } = decodeParametersOf(
    "failed to parse the parameters of the 'token-producer' plugin: ", parameters, FIELDS,
  )
  const wantsVllm = vllm !== undefined || (modelName !== '' && udsTokenizerConfig === undefined)
  const backends = [estimate !== undefined, wantsVllm, udsTokenizerConfig !== undefined]
  if (backends.filter(Boolean).length > 1) {
    throw new ParameterError("only one of 'estimate', 'vllm', or 'udsTokenizerConfig' may be set")
  }
  if (wantsVllm || udsTokenizerConfig !== undefined) {
    if (modelName === '') throw new ParameterError("'modelName' must be specified")
    if (!wantsVllm) throw notBuilt('udsTokenizerConfig')
    const { url, timeout, mmTimeout } = vllm ?? VLLM_DEFAULTS
    if (!/^https?:\/\/[^/]+/.test(url)) throw new ParameterError(`vllm.url must be an http or https URL, got "${url}"`, ['vllm', 'url'])
    if (timeout <= 0 || mmTimeout <= 0) throw new ParameterError('vllm.timeout and vllm.mmTimeout must be greater than 0', ['vllm'])
    return { backend: 'vllm', render: { modelName, url, timeoutMs: timeout, mediaTimeoutMs: mmTimeout } }
  }
  const chosen = estimate ?? DEFAULTS
  requireMode('image', chosen.image.mode, 'dynamic', 'static')
  requireMode('video.tokensPerFrame', chosen.video.tokensPerFrame.mode, 'dynamic', 'static')
  requireMode('video.frames', chosen.video.frames.mode, 'sampled', 'strided')
  return { backend: 'estimate', estimate: chosen }
}

const DEFAULTS: EstimateParameters = object(ESTIMATE).fallback

const VLLM_DEFAULTS = object(VLLM).fallback

const notBuilt = (backend: string): SignalboxError =>
  new SignalboxError('config-plugin-not-built', `the backend '${backend}' of token-producer is known but not built; use 'vllm' or 'estimate'`)

const requireMode = (path: string, mode: string, first: string, second: string): void => {
  if (mode === '' || mode === first || mode === second) return
  throw new ParameterError(`estimate.${path}.mode must be "${first}" or "${second}", got "${mode}"`, ['estimate', ...path.split('.'), 'mode'])
}
