import { Buffer } from 'node:buffer'
import { promptText } from '../trace/prompt-text.ts'
import type { TraceRequest } from '../trace/trace-request.ts'

/** How trace requests become chat completions. */
export interface RequestPlan {
  readonly model: string
  /** Share of requests with an image, 0 to 1. */
  readonly imageShare: number
  /** Output tokens are cut to this. */
  readonly maxOutput: number
  /** Keeps the prompts of this play apart from those of another, so that nothing of it is cached yet. */
  readonly salt: string
}

/** Different images in a play: few enough that an encoder's cache can hit. */
const IMAGE_COUNT = 64

/** The body of the chat completion for a trace request, always streaming and with usage. */
export function chatBody(request: TraceRequest, plan: RequestPlan): Buffer {
  const tokens = Math.max(1, Math.min(request.outputTokens, plan.maxOutput))
  const head =
    `{"model":${JSON.stringify(plan.model)},"stream":true,"stream_options":{"include_usage":true},` +
    `"max_tokens":${tokens},"messages":[{"role":"user","content":`
  const image = imageOf(request.index, plan.imageShare)
  const text = promptText(request, 1, plan.salt)
  if (image === undefined) return Buffer.concat([Buffer.from(`${head}"`), text, Buffer.from('"}]}')])
  const tail = `"},{"type":"image_url","image_url":{"url":${JSON.stringify(image)}}}]}]}`
  return Buffer.concat([Buffer.from(`${head}[{"type":"text","text":"`), text, Buffer.from(tail)])
}

/** The image of request `index`, if it has one: the same in every play. */
export function imageOf(index: number, share: number): string | undefined {
  const draw = scramble(index + 1)
  if (draw / 0x1_0000_0000 >= share) return undefined
  return `https://images.example/scene-${scramble(draw) % IMAGE_COUNT}.png`
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
