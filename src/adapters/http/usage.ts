import type { Usage } from '../../wire/index.ts'
import { scanObject } from './json-splice.ts'

const USAGE_KEY = Buffer.from('"usage"')
const META_INFO_KEY = Buffer.from('"meta_info"')
const SPACE = 32
const COLON = 58
const LETTER_N = 110

/** Events of the Responses API that carry the final usage. */
const FINAL_RESPONSE_EVENTS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** Counts of one block of usage, in the fields of the API that sent it; 0 is "not told". */
interface Counts {
  input: number
  output: number
  total: number
  cached: number
  reasoning: number
  /** Anthropic counts cached input apart from `input`: these two come on top of it. */
  cacheRead: number
  cacheCreation: number
}

/**
 * Gathers the usage that an endpoint reports in a response, from one body or from the events of a stream. Counts that
 * are not zero overwrite earlier ones; a total is taken only from a block with both halves, else it is their sum.
 * (llm-d: usage from responses; Anthropic's message_start and message_delta are merged)
 */
export class UsageMeter {
  readonly #key: Buffer
  readonly #counts: Counts = { input: 0, output: 0, total: 0, cached: 0, reasoning: 0, cacheRead: 0, cacheCreation: 0 }
  #isKnown = false
  #isAnthropic = false

  /** `isSglang`: the response is of SGLang's own API, which has its counts in `meta_info`. */
  constructor(isSglang = false) {
    this.#key = isSglang ? META_INFO_KEY : USAGE_KEY
  }

  /** Undefined when no usage was reported: unknown is not zero. */
  get usage(): Usage | undefined {
    if (!this.#isKnown) return undefined
    const counts = this.#counts
    const prompt = counts.input + (this.#isAnthropic ? counts.cacheRead + counts.cacheCreation : 0)
    return {
      promptTokens: prompt,
      completionTokens: counts.output,
      totalTokens: counts.total === 0 ? prompt + counts.output : counts.total,
      cachedTokens: counts.cached === 0 ? counts.cacheRead : counts.cached,
      reasoningTokens: counts.reasoning,
    }
  }

  /** Takes the data of one event; says whether it is a frame that carries usage and nothing else. */
  takeEvent(bytes: Buffer, start = 0, end = bytes.length): boolean {
    if (!mayHoldUsage(bytes, start, end, this.#key)) return false
    const event = parsed(bytes, start, end)
    if (!isRecord(event)) return false
    const found = usageOf(event)
    if (found === undefined) return false
    this.#take(found)
    return event['type'] === undefined && isEmptyChoices(event['choices'])
  }

  /** Takes a whole body that is not a stream; only its usage is parsed. */
  takeBody(body: Buffer): void {
    if (!body.includes(this.#key)) return
    const member = scanObject(body, this.#key === USAGE_KEY ? 'usage' : 'meta_info')?.members.at(-1)
    if (member === undefined) return
    const block = parsed(body, member.valueStart, member.valueEnd)
    if (isRecord(block)) this.#take(block)
  }

  #take(block: Record<string, unknown>): void {
    const counts = this.#counts
    const input = count(block['prompt_tokens']) || count(block['input_tokens'])
    const output = count(block['completion_tokens']) || count(block['output_tokens'])
    const total = count(block['total_tokens'])
    const inputDetails = block['prompt_tokens_details'] ?? block['input_tokens_details']
    const outputDetails = block['completion_tokens_details'] ?? block['output_tokens_details']
    const isAnthropic = block['cache_read_input_tokens'] !== undefined || block['cache_creation_input_tokens'] !== undefined
    if (isAnthropic) this.#isAnthropic = true
    this.#isKnown = true
    counts.input = input || counts.input
    counts.output = output || counts.output
    counts.total = input > 0 && output > 0 && total > 0 ? total : input > 0 || output > 0 ? 0 : counts.total
    counts.cached = count(field(inputDetails, 'cached_tokens')) || count(block['cached_tokens']) || counts.cached
    counts.reasoning = count(field(outputDetails, 'reasoning_tokens')) || counts.reasoning
    counts.cacheRead = count(block['cache_read_input_tokens']) || counts.cacheRead
    counts.cacheCreation = count(block['cache_creation_input_tokens']) || counts.cacheCreation
  }
}

/** The usage block of one event: at its top, in a final `response`, in Anthropic's `message`, or in SGLang's `meta_info`. */
const usageOf = (event: Record<string, unknown>): Record<string, unknown> | undefined => {
  const own = event['usage']
  if (isRecord(own)) return own
  const response = FINAL_RESPONSE_EVENTS.has(event['type']) ? field(event['response'], 'usage') : undefined
  if (isRecord(response)) return response
  const message = event['type'] === 'message_start' ? field(event['message'], 'usage') : undefined
  if (isRecord(message)) return message
  const meta = event['meta_info']
  return isRecord(meta) && meta['completion_tokens'] !== undefined ? meta : undefined
}

/** A cheap look before parsing: the key must be there, and not with null, as most chunks have it. */
const mayHoldUsage = (bytes: Buffer, start: number, end: number, key: Buffer): boolean => {
  let at = bytes.indexOf(key, start)
  while (at >= 0 && at < end) {
    let value = at + key.length
    while (bytes[value] === SPACE || bytes[value] === COLON) value++
    if (bytes[value] !== LETTER_N) return true
    at = bytes.indexOf(key, value)
  }
  return false
}

const parsed = (bytes: Buffer, start: number, end: number): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8', start, end)) as unknown
  } catch {
    return undefined
  }
}

const isEmptyChoices = (choices: unknown): boolean => choices === undefined || (Array.isArray(choices) && choices.length === 0)

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const field = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined)

/** A whole number of tokens; 0 for anything else. */
const count = (value: unknown): number => (typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0)
