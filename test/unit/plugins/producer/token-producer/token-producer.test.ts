import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InferenceBody, Part } from '../../../../../src/core/body.ts'
import { SignalboxError } from '../../../../../src/core/errors.ts'
import { AWAITED_TOKENS, untokenized } from '../../../../../src/core/shape.ts'
import { Packer, TOKENS_MAX } from '../../../../../src/plugins/producer/token-producer/packer.ts'
import { tokenizer, tokenProducer, type TokenProducer } from '../../../../../src/plugins/producer/token-producer/index.ts'
import { context, endpoint, request } from '../../given.ts'

const made = (parameters?: unknown): TokenProducer => tokenProducer.create(context(parameters)) as TokenProducer
const chat = (...content: readonly Part[]): InferenceBody => ({ kind: 'chat', turns: [{ role: '', content }], tools: [], cacheSalt: '' })
const none = new Map<string, string>()
const bytesOf = (tokens: Uint32Array): Uint8Array => new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength)

describe('Packer', () => {
  it('given any texts, when packed, then the tokens are their UTF-8 bytes padded with zeros', () => {
    const packer = new Packer()
    // Texts up to beyond the first memory, of characters of every length.
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.tuple(fc.constantFrom('a', 'é', '€', '😀', '\ud800'), fc.nat(70_000)).map(([one, times]) => one.repeat(times)))
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), (texts) => {
        packer.begin()
        for (const one of texts) packer.text(one)
        const right = new TextEncoder().encode(texts.map((one) => one.toWellFormed()).join(''))
        const tokens = packer.prompt()
        expect(tokens.length).toBe(Math.ceil(right.length / 4))
        const bytes = bytesOf(tokens)
        expect(Buffer.compare(bytes.subarray(0, right.length), right)).toBe(0)
        expect(bytes.subarray(right.length).every((byte) => byte === 0)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it('given two prompts, when packed, then the second begins at a token of its own and counts places from there', () => {
    const packer = new Packer()
    packer.begin()
    packer.text('abcde')
    const first = packer.prompt()
    packer.text('x')
    expect(packer.repeat(7, 2)).toBe(1)
    expect(first.length).toBe(2)
    expect([...packer.prompt()]).toEqual([0x78, 7, 7])
  })

  it('given more tokens than a request may have, when packed, then it is refused before memory is taken', () => {
    const packer = new Packer()
    packer.begin()
    expect(() => packer.repeat(1, TOKENS_MAX + 1)).toThrow(RangeError)
  })
})

describe('token-producer', () => {
  it('given two requests, when tokenized one after the other, then the first stays as it was', () => {
    const producer = made()
    const first = producer.tokenize({ body: chat({ type: 'text', text: 'aaaa' }) }, none)
    producer.tokenize({ body: chat({ type: 'text', text: 'bbbb' }) }, none)
    expect([...(first.prompts[0]?.tokenIds ?? [])]).toEqual([0x61616161])
  })

  it('given a request, when shaped, then it is as if tokenized and shaped, and nothing of its text is left', () => {
    const made64 = made().shape({ body: chat({ type: 'text', text: 'a secret that nobody may read '.repeat(20) }) }, none, 'm', [{ kind: 'approx', blockTokens: 64, maxBlocks: 10 }])
    expect(made64).toMatchObject({ tokenized: true, problem: '', prompts: [{ tokens: 150, blocks: [{ blockTokens: 64 }] }] })
    expect(made64.prompts[0]?.blocks[0]?.keys).toHaveLength(24)
    const kept = JSON.stringify(made64, (_name, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value))
    expect(kept).not.toContain('secret')
  })

  it('given a body that cannot be estimated, when shaped, then its problem says so', () => {
    expect(made().shape({ body: { kind: 'raw', cacheSalt: '' } }, none, 'm', [])).toEqual({ tokenized: false, prompts: [], problem: 'unsupported request body type, skipping estimation' })
    expect(made().shape({ body: undefined }, none, 'm', [])).toMatchObject({ tokenized: false, problem: 'request body is nil' })
  })

  it('given a client that claims an endless video, when shaped, then no memory is taken for it', () => {
    const headers = new Map([['x-llm-d-video-duration-seconds', '1e300']])
    expect(made().shape({ body: chat({ type: 'video', url: 'v' }) }, headers, 'm', [])).toMatchObject({ tokenized: false, problem: `the request has more than ${TOKENS_MAX} tokens` })
  })

  it('given a request in the turn, when asked to produce, then it has nothing to do', () => {
    const one = request()
    made().produce(one, [endpoint('a')])
    expect(one.attributes.size).toBe(0)
  })

  it('given its name, when asked, then it produces the prompt under that name', () => {
    expect(made().produces()).toEqual([{ dataType: 'TokenizedPrompt', producer: 'it' }])
  })

  it('given the vllm backend, when shaped, then token ids count as they are, texts are awaited, and what it cannot count says so', () => {
    const producer = made({ modelName: 'm', vllm: { url: 'http://r:8000', timeout: '2s', mmTimeout: '9s' } })
    expect(producer.render).toEqual({ modelName: 'm', url: 'http://r:8000', timeoutMs: 2000, mediaTimeoutMs: 9000 })
    expect(producer.answersWithinMs).toBe(9000)
    const shaped = (body: InferenceBody) => producer.shape({ body }, none, 'm', [])
    expect(shaped({ kind: 'generate', tokenIds: Uint32Array.of(1, 2), features: undefined, cacheSalt: '' })).toMatchObject({ tokenized: true, prompts: [{ tokens: 2 }] })
    expect(shaped({ kind: 'completions', prompt: { form: 'tokens', prompts: [Uint32Array.of(1)] }, cacheSalt: '' })).toMatchObject({ tokenized: true, prompts: [{ tokens: 1 }] })
    expect(shaped({ kind: 'completions', prompt: { form: 'text', text: 'x' }, cacheSalt: '' })).toEqual(untokenized(AWAITED_TOKENS))
    expect(shaped(chat({ type: 'text', text: 'x' }))).toEqual(untokenized(AWAITED_TOKENS))
    expect(shaped({ kind: 'images', prompt: 'x', cacheSalt: '' }).problem).toBe('the vllm backend counts the tokens of chat and text completions, not of images')
    expect([untokenized(AWAITED_TOKENS), untokenized('')].map((shape) => producer.awaits(request({ shape })))).toEqual([true, false])
    expect(made().awaits(request({ shape: untokenized(AWAITED_TOKENS) }))).toBe(false)
  })

  it('given the old type, when made, then it is the same producer', () => {
    expect(tokenizer.create(context(undefined)).typedName.type).toBe('token-producer')
    expect(tokenizer.deprecated?.replacement).toBe('token-producer')
  })

  it.each([
    [{ modelName: 'm', udsTokenizerConfig: { socketFile: '/x' } }, "the backend 'udsTokenizerConfig' of token-producer is known but not built; use 'vllm' or 'estimate'"],
    [{ modelName: 'm', vllm: { url: 'localhost:8000' } }, 'vllm.url must be an http or https URL, got "localhost:8000"'],
    [{ modelName: 'm', vllm: { timeout: '0s' } }, 'vllm.timeout and vllm.mmTimeout must be greater than 0'],
    [{ vllm: {} }, "'modelName' must be specified"],
    [{ udsTokenizerConfig: {} }, "'modelName' must be specified"],
    [{ estimate: {}, vllm: {} }, "only one of 'estimate', 'vllm', or 'udsTokenizerConfig' may be set"],
    [{ vllm: {}, udsTokenizerConfig: {} }, "only one of 'estimate', 'vllm', or 'udsTokenizerConfig' may be set"],
    [{ vllm: { timeout: 5 } }, /timeout must be a duration/],
    [{ estimate: { image: { static: { staticToken: 1.5 } } } }, /staticToken must be a whole number/],
    [{ estimat: {} }, /unknown field "estimat"; did you mean `estimate`/],
    [{ estimate: { video: { frames: { mode: 'x' } } } }, 'estimate.video.frames.mode must be "sampled" or "strided", got "x"'],
  ])('given the parameters %j, when made, then it is refused', (parameters, message) => {
    expect(() => made(parameters)).toThrow(message)
    expect(() => made(parameters)).toThrow(SignalboxError)
  })
})
