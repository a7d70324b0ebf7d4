import { expect } from 'vitest'
import type { InferenceBody } from '../../src/core/body.ts'
import { messagesBody } from '../../src/plugins/parser/anthropic-parser/body.ts'
import { readJsonBody } from '../../src/plugins/parser/json-request.ts'
import { openaiBody, type OpenaiApi } from '../../src/plugins/parser/openai-parser/body.ts'
import { generateBody } from '../../src/plugins/parser/vllmhttp-parser/index.ts'
import { tokenProducer, type TokenProducer } from '../../src/plugins/producer/token-producer/index.ts'
import { videoHints } from '../../src/plugins/producer/token-producer/media-tokens.ts'
import type { TokenizedRequest } from '../../src/core/shape.ts'
import { type Case, expectMatch, forEachCase, messageOf } from './runner.ts'

interface Estimate {
  readonly endpoint: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly bodyText?: string
}
interface ExpectedPrompt {
  readonly count: number
  readonly features: unknown
  readonly tokenIDs?: readonly number[]
  readonly firstTokenIDs?: readonly number[]
  readonly lastTokenIDs?: readonly number[]
}
interface Tokens {
  readonly prompts: readonly (readonly number[])[]
  readonly cacheSalt?: string
}

const producerOf = (parameters: unknown): TokenProducer =>
  tokenProducer.create({ name: 'token-producer', parameters, plugin: () => undefined, warn: () => undefined }) as TokenProducer

const bodyOf = (endpoint: string, text: string): InferenceBody => {
  const json = readJsonBody(new TextEncoder().encode(text))
  if (endpoint === 'messages') return messagesBody(json)
  if (endpoint === 'generate') return generateBody(json.object)
  return endpoint === 'none' ? { kind: 'raw', cacheSalt: '' } : openaiBody(endpoint as OpenaiApi, json.object)
}

const headersOf = (headers: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> => new Map(Object.entries(headers))

const tokenizedOf = (tokens: Tokens): TokenizedRequest => ({
  prompts: tokens.prompts.map((ids) => ({ tokenIds: Uint32Array.from(ids), media: [] })),
  cacheSalt: tokens.cacheSalt ?? '',
})

forEachCase('token-estimate.json', {
  estimate: ({ config, input, expected }: Case<unknown, Estimate, { error?: boolean; messageContains?: string; prompts: readonly ExpectedPrompt[] }>) => {
    const body = bodyOf(input.endpoint, input.bodyText ?? JSON.stringify(input.body))
    const run = (): TokenizedRequest => producerOf(config).tokenize({ body }, headersOf(input.headers))
    if (expected.error === true) return expect(messageOf(run)).toContain(expected.messageContains)
    const { prompts, cacheSalt } = run()
    const tokenCount = prompts.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0)
    const view = prompts.map(({ tokenIds, media }, index) => ({
      count: tokenIds.length,
      features: media,
      tokenIDs: [...tokenIds],
      firstTokenIDs: [...tokenIds.subarray(0, expected.prompts[index]?.firstTokenIDs?.length)],
      lastTokenIDs: [...tokenIds.subarray(-(expected.prompts[index]?.lastTokenIDs?.length ?? 1))],
    }))
    expectMatch({ tokenCount, cacheSalt, prompts: view }, expected)
  },

  videoHeaders: ({ input, expected }: Case<unknown, { headers: Readonly<Record<string, string>> }>) => {
    expectMatch(videoHints(headersOf(input.headers)), expected)
  },

  plugin: ({ input, expected }: Case<unknown, Record<string, unknown>, Record<string, unknown>>) => {
    const api = Object.keys(input).find((name) => name === 'chat' || name === 'completions') as OpenaiApi | undefined
    const body = api === undefined ? undefined : openaiBody(api, input[api] as never)
    const already = input['tokenizedRequest'] === undefined ? undefined : tokenizedOf(input['tokenizedRequest'] as Tokens)
    const run = (): TokenizedRequest => producerOf({}).tokenize({ body }, headersOf(), already)
    if (expected['error'] === true) return expect(messageOf(run)).toContain(expected['messageContains'])
    const { prompts, cacheSalt } = run()
    const published = producerOf({}).shape({ body }, headersOf(), 'm', []).tokenized
    const tokenizedRequest = { prompts: prompts.map(({ tokenIds }) => [...tokenIds]), cacheSalt }
    expectMatch({ ok: true, published, backendCalled: already === undefined, tokenizedRequest }, expected)
  },

  config: ({ input, expected }: Case<unknown, { rawJSON: string | null }, { error?: boolean; messageContains?: string; ok?: boolean; backend?: string }>) => {
    const run = (): TokenProducer => producerOf(parametersOf(input.rawJSON))
    if (expected.error === true) return expect(messageOf(run)).toContain(expected.messageContains)
    run()
    expectMatch({ ok: true, backend: 'estimate' }, expected)
  },
})

/** Text that is not JSON reaches a plugin as text: YAML reads it so. */
function parametersOf(rawJSON: string | null): unknown {
  if (rawJSON === null) return undefined
  try {
    return JSON.parse(rawJSON) as unknown
  } catch {
    return rawJSON
  }
}
