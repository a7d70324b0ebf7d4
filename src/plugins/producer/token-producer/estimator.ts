import type { ConversationItem, GenerateFeatures, InferenceBody, MessagesTool, Part, PromptInput, Turn } from '../../../core/body.ts'
import { xxh64Into } from '../../../core/hash/xxh64.ts'
import { byCodeUnit } from '../../../core/order.ts'
import type { MediaFeature } from '../../../core/request.ts'
import type { TokenizedPrompt } from '../../../core/shape.ts'
import { compacted, goJson, goString } from './go-json.ts'
import { imageSize } from './image-size.ts'
import { audioTokens, dataUrlSize, imageTokens, type VideoHints, videoTokens } from './media-tokens.ts'
import { Packer } from './packer.ts'
import type { EstimateParameters } from './parameters.ts'

const BILLING_LINE = 'x-anthropic-billing-header'

/**
 * Turns request bodies into pseudo token ids: four bytes of what the model would read are one token, an image, sound or
 * video is as many equal tokens as its kind and size suggest. (llm-d: token-producer, estimate backend)
 */
export class Estimator {
  private readonly parameters: EstimateParameters
  private readonly packer = new Packer()
  private readonly encoder = new TextEncoder()
  private readonly digest = new Uint32Array(2)
  private media: MediaFeature[] = []
  private hints: VideoHints = { fps: 0, durationSeconds: 0, width: 0, height: 0 }

  constructor(parameters: EstimateParameters) {
    this.parameters = parameters
  }

  /**
   * The prompts of a body. Their token ids are views of memory that the next call overwrites.
   * @throws Error where the body has no prompt that can be estimated, RangeError where it has too many tokens.
   */
  prompts(body: InferenceBody, hints: VideoHints): readonly TokenizedPrompt[] {
    this.packer.begin()
    this.media = []
    this.hints = hints
    switch (body.kind) {
      case 'generate':
        return [{ tokenIds: body.tokenIds, media: body.features === undefined ? [] : generateMedia(body.features) }]
      case 'completions':
        return this.promptInput(body.prompt, (texts) => texts)
      case 'embeddings':
        return this.promptInput(body.input, (texts) => [embeddingsRecord(texts, body.input)])
      case 'chat':
        if (body.tools.length > 0) this.packer.text(goJson(body.tools))
        return this.turns(body.turns)
      case 'messages':
        if (body.tools.length > 0) this.packer.text(`[${body.tools.map(toolJson).join(',')}]`)
        this.packer.text(systemText(body.system))
        return this.turns(body.turns)
      case 'conversations':
        this.packer.text(body.items === undefined ? 'null' : `[${body.items.map(itemJson).join(',')}]`)
        return [this.prompt()]
      case 'responses':
        this.packer.text(responsesJson(body))
        return [this.prompt()]
      case 'images':
      case 'raw':
        throw new Error('unsupported request body type, skipping estimation')
    }
  }

  private prompt(): TokenizedPrompt {
    const { media } = this
    this.media = []
    return { tokenIds: this.packer.prompt(), media }
  }

  private promptInput(input: PromptInput, written: (texts: readonly string[]) => readonly string[]): readonly TokenizedPrompt[] {
    if (input.form === 'tokens') return input.prompts.map((tokenIds) => ({ tokenIds, media: [] }))
    const texts = written(input.form === 'text' ? [input.text] : input.texts)
    return (texts.length === 0 ? [''] : texts).map((text) => {
      this.packer.text(text)
      return this.prompt()
    })
  }

  private turns(turns: readonly Turn[]): readonly TokenizedPrompt[] {
    for (const { role, content } of turns) {
      this.packer.text(role)
      if (typeof content === 'string') this.packer.text(content)
      else for (const part of content) this.part(part)
    }
    return [this.prompt()]
  }

  private part(part: Part): void {
    switch (part.type) {
      case 'text':
      case 'thinking':
        return this.packer.text(part.text)
      case 'image':
        return this.asset('image', part.url, () => imageTokens(this.parameters, () => dataUrlSize(part.url)))
      case 'image-data':
        return this.asset('image', part.data, () => imageTokens(this.parameters, () => imageSize(part.data)))
      case 'video':
        return this.asset('video', part.url, () => videoTokens(this.parameters, this.hints))
      case 'audio':
        return this.asset('audio', part.data + part.format, audioTokens)
      case 'tool-use':
        return this.packer.text(part.id + part.name + part.input)
      case 'tool-result':
        return this.toolResult(part.content)
    }
  }

  /** Its texts first, one a line, then its images. */
  private toolResult(content: string | readonly Part[]): void {
    if (typeof content === 'string') return this.packer.text(content)
    this.packer.text(content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'))
    for (const part of content) {
      if (part.type === 'image') this.part(part)
      if (part.type === 'image-data') this.part({ type: 'image', url: `data:${part.mediaType || 'image/jpeg'};base64,${part.data}` })
    }
  }

  /** Tokens that all equal the low half of the content's hash, so that equal media match and others do not. */
  private asset(modality: string, content: string, tokens: (contentBytes: number) => number): void {
    const bytes = this.encoder.encode(content)
    xxh64Into(bytes, 0, bytes.length, 0, 0, this.digest, 0)
    const [low = 0, high = 0] = this.digest
    const length = tokens(bytes.length)
    const offset = this.packer.repeat(low, length)
    this.media.push({ modality, hash: high === 0 ? low.toString(16) : high.toString(16) + low.toString(16).padStart(8, '0'), offset, length })
  }
}

const systemText = (system: string | readonly string[]): string =>
  typeof system === 'string' ? system : system.filter((text) => !text.startsWith(BILLING_LINE)).join('')

const toolJson = ({ name, description, inputSchema, strict, deferLoading }: MessagesTool): string =>
  `{${[
    `"name":${goString(name)}`,
    ...(description === '' ? [] : [`"description":${goString(description)}`]),
    ...(inputSchema === undefined ? [] : [`"input_schema":${compacted(inputSchema)}`]),
    ...(strict === undefined ? [] : [`"strict":${strict}`]),
    ...(deferLoading === undefined ? [] : [`"defer_loading":${deferLoading}`]),
  ].join(',')}}`

const itemJson = ({ type, role, content }: ConversationItem): string =>
  `{${[
    ...(type === '' ? [] : [`"type":${goString(type)}`]),
    ...(role === '' ? [] : [`"role":${goString(role)}`]),
    ...(content === null ? [] : [`"content":${goJson(content)}`]),
  ].join(',')}}`

const responsesJson = ({ instructions, tools, input }: Extract<InferenceBody, { kind: 'responses' }>): string =>
  goJson([...(instructions === null ? [] : [{ instructions }]), ...(tools === null ? [] : [{ tools }]), { input }])

const embeddingsRecord = (texts: readonly string[], input: PromptInput): string =>
  input.form === 'text'
    ? `{"Raw":${goString(input.text)},"Strings":null,"TokenIDs":null}`
    : `{"Raw":"","Strings":${texts.length === 0 ? 'null' : goJson(texts)},"TokenIDs":null}`

/** Pairs hashes with placeholders by index, in order of offset; equal offsets by modality. */
export const generateMedia = ({ hashes, placeholders }: GenerateFeatures): readonly MediaFeature[] =>
  [...hashes.keys()]
    .sort(byCodeUnit)
    .flatMap((modality) => {
      const places = placeholders.get(modality) ?? []
      return (hashes.get(modality) ?? []).flatMap((hash, index): MediaFeature[] => {
        const place = places[index]
        return place === undefined ? [] : [{ modality, hash, offset: place.offset, length: place.length }]
      })
    })
    .sort((a, b) => a.offset - b.offset)
