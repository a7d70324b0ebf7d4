import type { Endpoint } from '../../../core/endpoint.ts'
import { SignalboxError } from '../../../core/errors.ts'
import { byCodeUnit } from '../../../core/order.ts'
import { type KvIndex, type KvShelf, SAVED_WORDS } from './kv-index.ts'
import type { Batch, Speculation } from './speculation.ts'
import type { Tiers } from './tiers.ts'

const VERSION = 1
const HALF = 4_294_967_296

/**
 * What the producer knows as bytes. 32-bit little-endian words: version; the tiers; the endpoints in order of id, each with
 * its blocks, key and references, oldest first; the speculative batches, oldest first. A text is its length in UTF-8 and
 * its bytes, padded to whole words.
 */
export const saveState = (index: KvIndex, tiers: Tiers, speculation: Speculation): Uint8Array => {
  const writer = new WordWriter()
  writer.number(VERSION)
  writer.number(tiers.names.length)
  for (const name of tiers.names) writer.text(name)
  const shelves: { readonly slot: number; readonly shelf: KvShelf }[] = []
  for (let slot = 0; slot < index.slots; slot++) {
    const shelf = index.shelf(slot)
    if (shelf !== undefined) shelves.push({ slot, shelf })
  }
  shelves.sort((a, b) => byCodeUnit(a.shelf.id, b.shelf.id))
  writer.number(shelves.length)
  for (const { slot, shelf } of shelves) {
    writer.text(shelf.id)
    writer.number(shelf.size)
    index.copy(slot, writer.room(SAVED_WORDS * shelf.size), writer.last)
  }
  const batches = speculation.pending
  writer.number(batches.length)
  for (const batch of batches) {
    writer.text(index.shelf(batch.slot)?.id ?? '')
    writer.number(batch.until % HALF)
    writer.number(Math.floor(batch.until / HALF))
    writer.number(batch.words.length)
    writer.room(batch.words.length).set(batch.words, writer.last)
  }
  return writer.bytes()
}

/** Fills what is empty. Endpoints that are not there are left out. Throws `state-invalid`. */
export const loadState = (state: Uint8Array, endpoints: readonly Endpoint[], index: KvIndex, tiers: Tiers, speculation: Speculation): void => {
  const reader = new WordReader(state)
  const slots = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint.slot]))
  if (reader.number() !== VERSION) throw damaged()
  for (let left = reader.count(); left > 0; left--) tiers.numberOf(reader.text())
  for (let left = reader.count(); left > 0; left--) {
    const id = reader.text()
    const words = reader.words(SAVED_WORDS * reader.count())
    const slot = slots.get(id)
    if (slot === undefined) continue
    index.open(slot, id)
    index.fill(slot, words)
  }
  for (let left = reader.count(); left > 0; left--) {
    const slot = slots.get(reader.text())
    const until = (reader.number() >>> 0) + HALF * reader.number()
    const batch: Batch = { slot: slot ?? 0, until, words: reader.words(reader.count()).slice() }
    if (slot !== undefined) speculation.add(batch)
  }
  if (!reader.isAtEnd) throw damaged()
}

class WordWriter {
  /** Where the room given last begins. */
  last = 0
  private all = new Int32Array(256)
  private at = 0
  private readonly encoder = new TextEncoder()

  number(value: number): void {
    this.room(1)[this.last] = value | 0
  }

  text(value: string): void {
    const bytes = this.encoder.encode(value)
    this.number(bytes.length)
    const words = this.room(Math.ceil(bytes.length / 4))
    new Uint8Array(words.buffer).set(bytes, 4 * this.last)
  }

  /** The words written so far with room for more, from `last`. */
  room(words: number): Int32Array {
    this.last = this.at
    this.at += words
    if (this.at > this.all.length) {
      const grown = new Int32Array(2 * this.at)
      grown.set(this.all)
      this.all = grown
    }
    return this.all
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.all.slice(0, this.at).buffer)
  }
}

class WordReader {
  private readonly all: Int32Array
  private at = 0
  private readonly decoder = new TextDecoder()

  constructor(bytes: Uint8Array) {
    if (bytes.length % 4 !== 0) throw damaged()
    // A copy, since words must lie on a word's boundary.
    this.all = new Int32Array(bytes.slice().buffer)
  }

  get isAtEnd(): boolean {
    return this.at === this.all.length
  }

  number(): number {
    const value = this.all[this.at++]
    if (value === undefined) throw damaged()
    return value
  }

  /** A number of things: as each takes a word at least, there are no more than words. */
  count(): number {
    const value = this.number()
    if (value < 0 || value > this.all.length) throw damaged()
    return value
  }

  words(count: number): Int32Array {
    const end = this.at + count
    if (end > this.all.length) throw damaged()
    const words = this.all.subarray(this.at, end)
    this.at = end
    return words
  }

  text(): string {
    const length = this.number()
    if (length < 0 || length > 4 * this.all.length) throw damaged()
    const words = this.words(Math.ceil(length / 4))
    return this.decoder.decode(new Uint8Array(words.buffer, words.byteOffset, length))
  }
}

const damaged = (): SignalboxError => new SignalboxError('state-invalid', 'the saved index of KV blocks is damaged')
