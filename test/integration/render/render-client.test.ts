import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { RenderClient } from '../../../src/adapters/render/index.ts'
import { startEndpoint } from '../../../src/simulation/index.ts'
import { closed, listening } from '../../story/listening.ts'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const clientOf = (url: string, more: { readonly timeoutMs?: number; readonly mediaTimeoutMs?: number } = {}): RenderClient => {
  const client = new RenderClient({ url, modelName: 'sim-model', timeoutMs: 5000, mediaTimeoutMs: 5000, ...more })
  closers.push(() => client.close())
  return client
}

const simulated = async (): Promise<string> => {
  const endpoint = await startEndpoint({ speed: 100 })
  closers.push(() => endpoint.close())
  return endpoint.url
}

const answering = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  closers.push(() => closed(server))
  return `http://127.0.0.1:${await listening(server)}`
}

const never = new AbortController().signal
const bytes = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body))
const chat = (content: unknown, model = 'another'): Uint8Array => bytes({ model, messages: [{ role: 'user', content }], stream: true })

describe('RenderClient, at a simulated endpoint', () => {
  it('given a chat, when rendered, then its tokens are those of the engine, whatever model the client named', async () => {
    const [prompt] = await clientOf(await simulated()).render({ kind: 'chat', body: chat('abcdefg'), hasMedia: false }, never)
    expect(Buffer.from(prompt?.tokenIds.buffer as ArrayBuffer).toString()).toBe('userabcdefg\0')
    expect(prompt?.media).toEqual([])
  })

  it('given a completion, when rendered, then there is one prompt', async () => {
    const prompts = await clientOf(await simulated()).render({ kind: 'completions', body: bytes({ model: 'm', prompt: 'abcd' }), hasMedia: false }, never)
    expect(prompts).toEqual([{ tokenIds: Uint32Array.of(0x64636261), media: [] }])
  })

  it('given images, when rendered, then their hashes and places are known, of equal ones the same hash', async () => {
    const image = (url: string): unknown => ({ type: 'image_url', image_url: { url } })
    const [prompt] = await clientOf(await simulated()).render({ kind: 'chat', body: chat([image('http://a/1'), { type: 'text', text: 'and' }, image('http://a/1'), image('http://a/2')]), hasMedia: true }, never)
    expect(prompt?.media.map(({ offset, length }) => [offset, length])).toEqual([[1, 225], [227, 225], [452, 225]])
    const [first, second, third] = prompt?.media ?? []
    expect(first?.hash).toBe(second?.hash)
    expect(first?.hash).not.toBe(third?.hash)
  })

  it('given a body that the renderer refuses, when rendered, then the error says what it answered and nothing of the prompt', async () => {
    await expect(clientOf(await simulated()).render({ kind: 'chat', body: bytes({ model: 'm', messages: 'a secret' }), hasMedia: false }, never)).rejects.toThrow(/^the renderer answered 400$/)
  })
})

describe('RenderClient, at a server that misbehaves', () => {
  it('given no answer, when the time for it is over, then it says so; with media it waits as long as that takes', async () => {
    const url = await answering(() => undefined)
    await expect(clientOf(url, { timeoutMs: 20 }).render({ kind: 'chat', body: chat('x'), hasMedia: false }, never)).rejects.toThrow('the renderer gave no answer within 20 ms')
    await expect(clientOf(url, { mediaTimeoutMs: 30 }).render({ kind: 'chat', body: chat('x'), hasMedia: true }, never)).rejects.toThrow('the renderer gave no answer within 30 ms')
  })

  it('given a client who leaves, when it waits, then it ends', async () => {
    const leaving = new AbortController()
    const url = await answering(() => leaving.abort())
    await expect(clientOf(url).render({ kind: 'chat', body: chat('x'), hasMedia: false }, leaving.signal)).rejects.toThrow(/abort/)
  })

  it.each([
    ['no JSON', "the renderer's answer is not JSON"],
    ['{}', "the renderer's answer has no list token_ids"],
    ['[1]', "the renderer's answer has no list token_ids"],
    ['{"token_ids":[1,-2]}', "the renderer's answer has a token id that is none"],
    ['{"token_ids":[4294967296]}', "the renderer's answer has a token id that is none"],
  ])('given %s, when read, then it is refused', async (answer, message) => {
    const url = await answering((_request, response) => response.end(answer))
    await expect(clientOf(url).render({ kind: 'chat', body: chat('x'), hasMedia: false }, never)).rejects.toThrow(message)
  })
})
