import { imageSize, type Size } from './image-size.ts'
import type { EstimateParameters } from './parameters.ts'

const DEFAULT_SIZE: Size = { width: 640, height: 360 }
const DEFAULT_FACTOR = 1024 // pixels a token
const DEFAULT_DURATION_S = 10
const DEFAULT_SAMPLE_FPS = 2
const DEFAULT_SOURCE_FPS = 24

/** What headers say of every video of a request; 0 is not given. */
export interface VideoHints {
  readonly fps: number
  readonly durationSeconds: number
  readonly width: number
  readonly height: number
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const RESOLUTION = /^\s*\+?(\d+)\s*[xX]\s*\+?(\d+)\s*$/

/** Reads the video headers; what is malformed or not above 0 counts as not given. Names in lower case. */
export const videoHints = (headers: ReadonlyMap<string, string>): VideoHints => {
  const resolution = RESOLUTION.exec(headers.get('x-llm-d-video-resolution') ?? '')
  const width = Number(resolution?.[1] ?? 0)
  const height = Number(resolution?.[2] ?? 0)
  const sized = width > 0 && height > 0
  return {
    fps: above0(headers.get('x-llm-d-video-fps')),
    durationSeconds: above0(headers.get('x-llm-d-video-duration-seconds')),
    width: sized ? width : 0,
    height: sized ? height : 0,
  }
}

const above0 = (text: string | undefined): number => {
  const value = text !== undefined && DECIMAL.test(text) ? Number(text) : 0
  return value > 0 && Number.isFinite(value) ? value : 0
}

/** Tokens of an image by its size: pixels over the factor, at least 1. `size` undefined means not known. */
export const imageTokens = ({ image }: EstimateParameters, size: () => Size | undefined): number => {
  if (image.mode === 'static') return image.static.staticToken > 0 ? image.static.staticToken : 1
  return areaTokens(size() ?? configured(image.defaultResolution), image.dynamic.factor)
}

/** The size of an image in a data URL. */
export const dataUrlSize = (url: string): Size | undefined => {
  if (!url.startsWith('data:image/')) return undefined
  const marker = url.indexOf('base64,')
  return marker < 0 ? undefined : imageSize(url, marker + 'base64,'.length)
}

/** Tokens of a sound by the length of its base64: one for each 4 bytes, at least 1. */
export const audioTokens = (contentBytes: number): number => Math.max(1, Math.ceil(contentBytes / 4))

/** Tokens of a video: frames times tokens a frame, at most the configured bound, at least 1. */
export const videoTokens = ({ video }: EstimateParameters, hints: VideoHints): number => {
  const tokens = framesOf(video.frames, hints, video) * tokensPerFrame(video, hints)
  return Math.max(1, video.maxVideoTokens > 0 ? Math.min(tokens, video.maxVideoTokens) : tokens)
}

const tokensPerFrame = (video: EstimateParameters['video'], hints: VideoHints): number => {
  const { mode, static: fixed, dynamic } = video.tokensPerFrame
  if (mode === 'static') return fixed.numTokensPerFrame > 0 ? fixed.numTokensPerFrame : 1
  return areaTokens(hints.width > 0 ? hints : configured(video.defaultResolution), dynamic.factor)
}

const framesOf = (frames: EstimateParameters['video']['frames'], hints: VideoHints, video: EstimateParameters['video']): number => {
  const duration = firstAbove0(hints.durationSeconds, video.defaultDuration, DEFAULT_DURATION_S)
  const clamped = (count: number): number => {
    const raised = frames.minFrames > 0 ? Math.max(count, frames.minFrames) : count
    return frames.maxFrames > 0 ? Math.min(raised, frames.maxFrames) : raised
  }
  if (frames.mode === 'strided') {
    const fps = firstAbove0(hints.fps, frames.strided.defaultSourceFPS, DEFAULT_SOURCE_FPS)
    return clamped(Math.floor(Math.trunc(duration * fps) / Math.max(1, frames.strided.frameStride)))
  }
  const count = clamped(Math.trunc(duration * firstAbove0(frames.sampled.sampleFPS, DEFAULT_SAMPLE_FPS)))
  return frames.sampled.temporalPatchSize > 1 ? Math.floor(count / frames.sampled.temporalPatchSize) : count
}

const areaTokens = ({ width, height }: Size, factor: number): number =>
  Math.max(1, Math.floor((width * height) / (factor > 0 ? factor : DEFAULT_FACTOR)))

const configured = (size: Size): Size => (size.width > 0 && size.height > 0 ? size : DEFAULT_SIZE)

const firstAbove0 = (...values: readonly number[]): number => values.find((value) => value > 0) ?? 0
