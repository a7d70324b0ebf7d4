import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../../src/adapters/log/index.ts'
import type { Logger, LoggerOptions } from '../../../../src/adapters/log/index.ts'
import { SignalboxError } from '../../../../src/core/errors.ts'

const given = (options: Partial<LoggerOptions> = {}): { readonly logger: Logger; readonly lines: string[] } => {
  const lines: string[] = []
  return { lines, logger: createLogger({ level: 'info', format: 'json', write: (line) => lines.push(line), ...options }) }
}

const parsed = (lines: readonly string[]): unknown[] => lines.map((line) => JSON.parse(line) as unknown)

describe('JSON lines', () => {
  it('hold time, level, fields and message, and nothing of the machine', () => {
    const { logger, lines } = given()
    logger.info({ requestId: 'r1', endpoint: 'default/a', positions: [1, 2] }, 'routed')
    expect(parsed(lines)).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string, requestId: 'r1', endpoint: 'default/a', positions: [1, 2], msg: 'routed' },
    ])
    expect(lines[0]).toMatch(/\n$/)
  })

  it('are written from the level on, and not at all when silent', () => {
    const { logger, lines } = given({ level: 'warn' })
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) logger[level]({}, level)
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['warn', 'error'])
    const silent = given({ level: 'silent' })
    silent.logger.error({}, 'x')
    expect(silent.lines).toEqual([])
  })

  it('of a child bear its fields', () => {
    const { logger, lines } = given()
    logger.child({ requestId: 'r2' }).info({ attempt: 1 }, 'sent')
    expect(parsed(lines)).toMatchObject([{ requestId: 'r2', attempt: 1, msg: 'sent' }])
  })

  it('tell of an error with code, place and fix', () => {
    const { logger, lines } = given()
    logger.error({ err: new SignalboxError('config-syntax', 'no colon', { file: 'a.yaml', line: 3, column: 7 }) }, 'cannot start')
    expect(parsed(lines)).toMatchObject([{ err: { code: 'config-syntax', message: 'no colon', place: 'a.yaml:3:7', fix: 'Mend the YAML at the place named.' } }])
  })

  it('tell of any other error with its stack, and of what is none', () => {
    const { logger, lines } = given()
    logger.error({ err: Object.assign(new Error('gone'), { code: 'ECONNRESET', body: 'the prompt' }) }, 'x')
    logger.error({ err: 'just words' }, 'x')
    expect(parsed(lines)).toMatchObject([{ err: { message: 'gone', code: 'ECONNRESET', stack: expect.stringContaining('logger.test.ts') as string } }, { err: { message: 'just words' } }])
    expect(lines.join('')).not.toContain('the prompt')
  })

  it('write what JSON cannot', () => {
    const { logger, lines } = given()
    logger.info({ seed: 2n ** 64n - 1n, labels: new Map([['a', 1]]), keys: new Uint8Array(16), ids: new Set(['x']) }, 'x')
    expect(parsed(lines)).toMatchObject([{ seed: '18446744073709551615', labels: { a: 1 }, keys: '[16 bytes]', ids: ['x'] }])
  })
})

describe('what is never logged', () => {
  const SECRET = 'Attack at dawn'
  const names = ['prompt', 'messages', 'content', 'text', 'input', 'body', 'token_ids', 'tokens', 'Authorization', 'x-api-key', 'apiKey', 'Set-Cookie', 'requestBody', 'prompt_token_ids']

  it.each(names)('the field %s, at the top, within, in lists, in maps and in children', (name) => {
    const { logger, lines } = given()
    logger.info({ [name]: SECRET }, 'x')
    logger.info({ request: { inner: { [name]: [SECRET] } } }, 'x')
    logger.info({ list: [{ [name]: { deeper: SECRET } }] }, 'x')
    logger.info({ headers: new Map([[name, SECRET]]) }, 'x')
    logger.child({ [name]: SECRET, request: { [name]: SECRET } }).warn({}, 'x')
    expect(lines).toHaveLength(5)
    expect(lines.join('')).not.toContain(SECRET)
    expect(lines.join('')).toContain('[redacted]')
  })

  it('such a field wherever it stands in whatever is logged, in both formats', () => {
    const place = fc.array(fc.constantFrom('request', 'list', 'map'), { maxLength: 8 })
    fc.assert(
      fc.property(place, fc.constantFrom(...names), fc.constantFrom('json' as const, 'text' as const), (wrappers, name, format) => {
        const { logger, lines } = given({ format })
        let fields: Record<string, unknown> = { [name]: SECRET }
        for (const wrapper of wrappers) fields = wrapper === 'list' ? { items: [fields] } : wrapper === 'map' ? { items: new Map(Object.entries(fields)) } : { request: fields }
        logger.info(fields, 'x')
        expect(lines.join('')).not.toContain(SECRET)
      }),
    )
  })

  it('does not change what the caller holds', () => {
    const { logger } = given()
    const fields = { prompt: SECRET, request: { body: SECRET } }
    logger.info(fields, 'x')
    expect(fields).toEqual({ prompt: SECRET, request: { body: SECRET } })
  })
})

describe('text lines', () => {
  it('hold time of day, level, message and fields', () => {
    const { logger, lines } = given({ format: 'text' })
    logger.warn({ endpoint: 'default/a', reason: 'no answer', tries: 3 }, 'endpoint unreachable')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} WARN {2}endpoint unreachable endpoint=default\/a reason="no answer" tries=3\r?\n$/)
  })

  it('show an error below, with place and fix', () => {
    const { logger, lines } = given({ format: 'text' })
    logger.error({ err: new SignalboxError('config-syntax', 'no colon', { file: 'a.yaml', line: 3, column: 7 }) }, 'cannot start')
    expect(lines[0]?.split(/\r?\n/).slice(0, 3)).toEqual([
      expect.stringMatching(/ERROR cannot start$/),
      '  no colon (a.yaml:3:7) [config-syntax]',
      '  Mend the YAML at the place named.',
    ])
  })

  it('stay one line for one event, whatever is in the message', () => {
    const { logger, lines } = given({ format: 'text' })
    logger.info({ requestId: 'r\n12:00:00.000 INFO forged' }, 'a\nb')
    expect(lines[0]?.trimEnd().split(/\r?\n/)).toHaveLength(1)
  })
})
