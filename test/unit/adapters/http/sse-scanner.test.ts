import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENT_BYTES_MAX, SseScanner } from '../../../../src/adapters/http/sse-scanner.ts'

const eventsOf = (chunks: readonly (string | Buffer)[]): { events: string[]; scanner: SseScanner } => {
  const events: string[] = []
  const scanner = new SseScanner((bytes, start, end) => events.push(bytes.toString('utf8', start, end)))
  for (const chunk of chunks) scanner.push(Buffer.from(chunk))
  scanner.end()
  return { events, scanner }
}

const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((start, i) => bytes.subarray(start, places[i] ?? bytes.length))
}

describe('the scanner of server-sent events', () => {
  it('tells each event when its empty line comes, not before', () => {
    const seen: string[] = []
    const scanner = new SseScanner((bytes, start, end) => seen.push(bytes.toString('utf8', start, end)))
    scanner.push(Buffer.from('data: a\n'))
    expect(seen).toEqual([])
    expect(scanner.isAtBoundary).toBe(false)
    scanner.push(Buffer.from('\n'))
    expect(seen).toEqual(['a'])
    expect(scanner.isAtBoundary).toBe(true)
  })

  it('joins data lines, strips one space, and passes over comments and other fields', () => {
    const { events } = eventsOf([': c\nevent: x\nid: 1\nretry: 5\ndata:a\ndata:  b\ndata\ndatax: no\n\n: only a comment\n\nevent: y\n\n'])

    expect(events).toEqual(['a\n b\n'])
  })

  it('takes LF, CRLF and CR as line ends, and a byte order mark at the start', () => {
    expect(eventsOf(['\uFEFFdata: a\r\n\r\ndata: b\r\rdata: c\n\n']).events).toEqual(['a', 'b', 'c'])
  })

  it('finds the same events however the stream is cut', () => {
    const line = fc.constantFrom('data: {"a":1}', 'data:x', ': c', 'data: 渐😀', 'event: e', 'data: [DONE]', '', '', 'data')
    const stream = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 })
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(''))
        expect(eventsOf(cutAt(bytes, cuts)).events).toEqual(eventsOf([bytes]).events)
      }),
    )
  })

  it('takes a last event that is not ended as one', () => {
    expect(eventsOf(['data: a\n\ndata: b']).events).toEqual(['a', 'b'])
    expect(eventsOf(['data: a\n\ndata: b\n']).events).toEqual(['a', 'b'])
  })

  it('does not keep an endless event, and goes on after it', () => {
    const chunk = Buffer.alloc(1024 * 1024, 97)
    const sizes: number[] = []
    const scanner = new SseScanner((_bytes, start, end) => sizes.push(end - start))
    scanner.push(Buffer.from('data: '))
    for (let i = 0; i <= EVENT_BYTES_MAX / chunk.length; i++) scanner.push(chunk)
    scanner.push(Buffer.from('\n\ndata: b\n\n'))

    expect(sizes).toEqual([0, 1])
    expect(scanner.events).toBe(2)
  })

  it('says where in a chunk its last whole event ends', () => {
    const scanner = new SseScanner(() => undefined)
    scanner.push(Buffer.from('data: a\n\nda'))
    expect(scanner.boundary).toBe(9)
    scanner.push(Buffer.from('ta: b'))
    expect(scanner.boundary).toBe(-1)
    scanner.push(Buffer.from('\n\n'))
    expect(scanner.boundary).toBe(2)
    scanner.push(Buffer.from('data'))
    expect(scanner.boundary).toBe(0)
  })
})
