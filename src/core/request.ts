import type { Endpoint } from './endpoint.ts'
import type { Instant } from './instant.ts'

/** An image, a video or a sound in a prompt, in the prompt's own tokens. */
export interface MediaFeature {
  readonly modality: string
  readonly hash: string
  readonly offset: number
  readonly length: number
}

/** The keys of one prompt's blocks for one way of hashing: 8 bytes a key, little-endian, first block first. */
export interface BlockKeys {
  readonly kind: string
  readonly blockTokens: number
  readonly keys: Uint8Array
}

/** One prompt without its text. */
export interface PromptShape {
  readonly tokens: number
  readonly blocks: readonly BlockKeys[]
  readonly media: readonly MediaFeature[]
}

/** A request without its text: what a scheduler needs of it and no more. */
export interface RequestShape {
  /** False when its tokens could not be counted; `problem` says why. */
  readonly tokenized: boolean
  readonly prompts: readonly PromptShape[]
  readonly problem: string
}

/** Token counts as the endpoint reported them. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens: number
}

/** decode always; encode and prefill when a decider says so. */
export type Stage = 'decode' | 'encode' | 'prefill'

/** What one profile run picked: endpoints in order, the first is the target, the others are fallbacks. */
export interface ProfileResult {
  readonly endpoints: readonly Endpoint[]
}

/** Results by profile name, in the order in which the profiles ran; null is a run that gave nothing or was declined. */
export type ProfileResults = Map<string, ProfileResult | null>

/** What the profile handler made of the results. */
export interface SchedulingResult {
  readonly primary: string
  readonly results: ReadonlyMap<string, ProfileResult>
}

/** The request as plugins see it. Only the engine writes it, except `headers` in PreRequest hooks. */
export interface Request {
  /** Position of its arrival in the journal: the engine's key of it. */
  readonly key: number
  /** The client's label; two live requests may bear the same one. */
  readonly id: string
  readonly api: string
  readonly model: string
  readonly targetModel: string
  readonly priority: number
  readonly objective: string
  readonly fairnessId: string
  /** Headers it came with, names in lower case: allow-listed ones only. */
  readonly received: ReadonlyMap<string, string>
  /** Headers set for the endpoint; an empty value removes one. */
  readonly headers: Map<string, string>
  readonly streaming: boolean
  readonly bodyBytes: number
  /** The client's own bound on output tokens; undefined when it gave none. */
  readonly maxOutputTokens: number | undefined
  readonly shape: RequestShape
  readonly receivedAt: Instant
  /** From 1. */
  readonly attempt: number
  /** Request attributes by key text, such as "peer-endpoint/disagg-profile-handler". */
  readonly attributes: Map<string, unknown>
  /** Set once scheduled. */
  readonly result: SchedulingResult | undefined
}

/** Tokens over all prompts; 0 when not tokenized. */
export const tokensOf = (request: Request): number => {
  let tokens = 0
  for (const prompt of request.shape.prompts) tokens += prompt.tokens
  return tokens
}

/** Why a response ended. (llm-d: TerminationCause, and ours for a restart) */
export type EndCause = 'unspecified' | 'natural' | 'client-disconnect' | 'evicted' | 'error' | 'scheduler-restarted'

/** One step of a response: the first and the last are always told, those between are not. */
export interface ResponseStep {
  readonly startOfStream: boolean
  readonly endOfStream: boolean
  readonly usage: Usage | undefined
  /** Undefined until the end. */
  readonly cause: EndCause | undefined
}
