const LF = 10
const CR = 13
const SPACE = 32
const COLON = 58
const D = 100
const A = 97
const T = 116
const EMPTY = new Uint8Array(0)
const NOTHING = Buffer.alloc(0)
const LINE_FEED = Uint8Array.of(LF)
const DONE = Buffer.from('[DONE]')

/** Largest data of one event that is looked into, in bytes; of a larger one only its end is noticed. */
export const EVENT_BYTES_MAX = 8 * 1024 * 1024

/** What a scanner tells of an event when its empty line has come: its data, as a part of bytes that are good until the call returns. */
export type EventListener = (bytes: Buffer, start: number, end: number) => void

/**
 * Follows a stream of server-sent events through chunks cut anywhere, also inside a line end or a character, and never
 * changes a byte. Lines end in LF, CRLF or CR; one space after the colon is optional; data lines are joined by LF;
 * comments and other fields are passed over. An event is done when its last data line is exactly `[DONE]`: no JSON value
 * can end in such a line. (WHATWG HTML, 9.2.6, except that `end` also takes a last event whose empty line is missing)
 */
export class SseScanner {
  /** Events with data so far. */
  events = 0
  /** Whether the end mark came. */
  isDone = false
  /** Within the last chunk, where the last whole event ends; 0 when it began between events, -1 when no event ended in it. */
  boundary = -1
  /** Within the last chunk, where the event being told of ends. */
  offset = 0
  readonly #listener: EventListener
  /** Parts of the line that is not ended yet; views, as the chunks of a socket are never written again. */
  #parts: Uint8Array[] = []
  /** Data lines of the event so far. */
  #lines: Uint8Array[] = []
  #hasData = false
  #bytes = 0
  #isStart = true
  /** The last chunk ended in CR: an LF at the start of the next belongs to it. */
  #endedInCr = false
  #isMidEvent = false

  constructor(listener: EventListener) {
    this.#listener = listener
  }

  /** Whether what came so far ends between two events. */
  get isAtBoundary(): boolean {
    return !this.#isMidEvent
  }

  push(chunk: Buffer): void {
    this.boundary = this.#isMidEvent ? -1 : 0
    if (chunk.length === 0) return
    let from = 0
    if (this.#endedInCr) {
      this.#endedInCr = false
      if (chunk[0] === LF) from = 1
      if (!this.#isMidEvent) this.boundary = from
    }
    if (chunk.indexOf(CR, from) >= 0) this.#scanWithCarriageReturns(chunk, from)
    else if (!this.#takeWhole(chunk)) this.#scan(chunk, from)
  }

  /** The stream is over: a last line or event that was not ended counts as if it were. */
  end(): void {
    this.offset = 0
    if (this.#parts.length > 0) this.#line(EMPTY, 0, 0)
    if (this.#hasData) this.#dispatch()
    this.#isMidEvent = false
  }

  /** The way of nearly every chunk: one event of one data line, and nothing kept from before. */
  #takeWhole(chunk: Buffer): boolean {
    const end = chunk.length - 2
    if (this.#isMidEvent || this.#isStart || end < 5 || chunk[end] !== LF || chunk[end + 1] !== LF) return false
    if (chunk[4] !== COLON || !isDataField(chunk, 0, end) || chunk.indexOf(LF) !== end) return false
    this.offset = end + 2
    this.#tell(chunk, chunk[5] === SPACE && end > 5 ? 6 : 5, end)
    this.boundary = end + 2
    return true
  }

  #scan(chunk: Buffer, start: number): void {
    let from = start
    for (;;) {
      const end = chunk.indexOf(LF, from)
      if (end < 0) break
      this.offset = end + 1
      this.#line(chunk, from, end)
      from = end + 1
      if (!this.#isMidEvent) this.boundary = from
    }
    this.#keep(chunk, from)
  }

  #scanWithCarriageReturns(chunk: Buffer, start: number): void {
    let from = start
    let at = start
    while (at < chunk.length) {
      const byte = chunk[at]
      if (byte !== LF && byte !== CR) {
        at++
        continue
      }
      const end = at
      at++
      if (byte === CR) {
        if (at === chunk.length) this.#endedInCr = true
        else if (chunk[at] === LF) at++
      }
      this.offset = at
      this.#line(chunk, from, end)
      from = at
      if (!this.#isMidEvent) this.boundary = from
    }
    this.#keep(chunk, from)
  }

  #keep(chunk: Buffer, from: number): void {
    if (from >= chunk.length) return
    this.#isMidEvent = true
    this.#bytes += chunk.length - from
    if (this.#bytes <= EVENT_BYTES_MAX) this.#parts.push(chunk.subarray(from))
  }

  #line(chunk: Uint8Array, from: number, end: number): void {
    let line = chunk
    let start = from
    let stop = end
    this.#bytes += end - from
    if (this.#parts.length > 0) {
      if (this.#bytes <= EVENT_BYTES_MAX) this.#parts.push(chunk.subarray(from, end))
      line = Buffer.concat(this.#parts)
      this.#parts = []
      start = 0
      stop = line.length
    }
    if (this.#isStart) {
      this.#isStart = false
      if (stop - start >= 3 && line[start] === 0xef && line[start + 1] === 0xbb && line[start + 2] === 0xbf) start += 3
    }
    if (start === stop) {
      this.#dispatch()
      return
    }
    this.#isMidEvent = true
    if (isDataField(line, start, stop)) {
      start = Math.min(stop, start + 5)
      if (start < stop && line[start] === SPACE) start++
      this.#hasData = true
      if (this.#bytes <= EVENT_BYTES_MAX) this.#lines.push(line.subarray(start, stop))
    }
  }

  #dispatch(): void {
    this.#isMidEvent = false
    const isTooLarge = this.#bytes > EVENT_BYTES_MAX
    this.#bytes = 0
    if (!this.#hasData) return
    const lines = this.#lines
    this.#lines = []
    this.#hasData = false
    const data = isTooLarge ? NOTHING : joined(lines)
    const last = data.length === 0 ? 0 : (lines.at(-1)?.length ?? 0)
    this.#tell(data, 0, data.length, last)
  }

  /** `last` is the length of the last data line. */
  #tell(bytes: Buffer, start: number, end: number, last = end - start): void {
    this.events++
    if (last === DONE.length && bytes[end - last] === DONE[0] && bytes.compare(DONE, 0, DONE.length, end - last, end) === 0) this.isDone = true
    this.#listener(bytes, start, end)
  }
}

/** A line `data:...`, or `data` alone. */
const isDataField = (line: Uint8Array, start: number, stop: number): boolean =>
  stop - start >= 4 && line[start] === D && line[start + 1] === A && line[start + 2] === T && line[start + 3] === A &&
  (stop - start === 4 || line[start + 4] === COLON)

const joined = (lines: readonly Uint8Array[]): Buffer => {
  const first = lines[0] ?? EMPTY
  if (lines.length <= 1) return Buffer.from(first.buffer, first.byteOffset, first.byteLength)
  const parts: Uint8Array[] = [first]
  for (const line of lines.slice(1)) parts.push(LINE_FEED, line)
  return Buffer.concat(parts)
}
