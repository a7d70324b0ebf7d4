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

const FIELDS = {
  modelName: text(''),
  estimate: optionalObject(ESTIMATE),
  vllm: optionalObject({ url: text('http://localhost:8000'), timeout: durationMs(5000), mmTimeout: durationMs(30_000) }),
  udsTokenizerConfig: anything,
}

/** How tokens are estimated; 0 and '' stand for the default. */
export type EstimateParameters = Decoded<typeof ESTIMATE>

/**
 * Reads and checks the parameters; only the estimate backend is built.
 * @throws ParameterError, or SignalboxError (config-plugin-not-built) for the other backends.
 */
export const estimateParameters = (parameters: unknown): EstimateParameters => {
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
    throw notBuilt(wantsVllm ? 'vllm' : 'udsTokenizerConfig')
  }
  const chosen = estimate ?? DEFAULTS
  requireMode('image', chosen.image.mode, 'dynamic', 'static')
  requireMode('video.tokensPerFrame', chosen.video.tokensPerFrame.mode, 'dynamic', 'static')
  requireMode('video.frames', chosen.video.frames.mode, 'sampled', 'strided')
  return chosen
}

const DEFAULTS: EstimateParameters = object(ESTIMATE).fallback

const notBuilt = (backend: string): SignalboxError =>
  new SignalboxError('config-plugin-not-built', `the backend '${backend}' of token-producer is known but not built; use 'estimate'`)

const requireMode = (path: string, mode: string, first: string, second: string): void => {
  if (mode === '' || mode === first || mode === second) return
  throw new ParameterError(`estimate.${path}.mode must be "${first}" or "${second}", got "${mode}"`, ['estimate', ...path.split('.'), 'mode'])
}
