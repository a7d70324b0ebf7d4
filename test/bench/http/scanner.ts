/**
 * What looking at a stream costs a chunk: `node test/bench/http/scanner.ts`. One event a chunk, as endpoints send them.
 */
import { watchFor } from '../../../src/adapters/http/response-watch.ts'
import { readClientHeaders, attemptHeaders, clientResponseHeaders, routeHeaders } from '../../../src/adapters/http/header-policy.ts'
import type { Routed } from '../../../src/adapters/http/scheduler-port.ts'
import { UsageMeter } from '../../../src/adapters/http/usage.ts'
import { microseconds, report } from '../harness.ts'

const TIMES = 100_000
const chunkOf = (usage: string): Buffer => Buffer.from(
  `data: {"id":"chatcmpl-1234567890","object":"chat.completion.chunk","created":1700000000,"model":"bench","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]${usage}}\n\n`)
const plain = chunkOf('')
const withNull = chunkOf(',"usage":null')
const whole = Buffer.from(JSON.stringify({ id: 'c', choices: [{ message: { role: 'assistant', content: 'lorem "ipsum" '.repeat(200) } }], usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 } }))

const RAW = ['Host', 'door:8080', 'Connection', 'keep-alive', 'Content-Type', 'application/json', 'Authorization', 'Bearer k', 'User-Agent', 'OpenAI/JS 7', 'Accept', 'application/json',
  'X-Stainless-Lang', 'js', 'X-Stainless-OS', 'Linux', 'X-Stainless-Runtime', 'node', 'Accept-Encoding', 'gzip, deflate', 'Content-Length', '2100']
const route: Routed = {
  kind: 'routed', request: 1, attempt: 1, endpoint: { id: 'default/a', hostPort: '10.0.0.1:8000' }, fallbacks: [], headers: [], targetModel: 'm', stages: { decode: 'default/a' },
}
const answered = { date: 'Thu, 01 Jan 1970 00:00:00 GMT', server: 'uvicorn', 'content-type': 'text/event-stream; charset=utf-8', 'transfer-encoding': 'chunked', connection: 'keep-alive' }

/** Headers are made anew for each, as they come from a socket. */
const fresh = (): string[] => RAW.map((text) => Buffer.from(text, 'latin1').toString('latin1'))
const freshCost = microseconds(TIMES / 10, () => {
  fresh()
})

const watches = [false, true].map((hides) => {
  const watch = watchFor('text/event-stream', '', { hidesUsage: hides, names: undefined })
  return { hides, us: microseconds(TIMES, () => watch.take(plain)), nullUs: microseconds(TIMES, () => watch.take(withNull)) }
})
report('looking at a stream, a chunk of one event', watches.flatMap(({ hides, us, nullUs }) => [
  { name: hides ? 'hiding usage' : 'as a rule', value: us, unit: 'us', goal: 1 },
  { name: `${hides ? 'hiding usage' : 'as a rule'}, with "usage":null`, value: nullUs, unit: 'us', goal: 1 },
]))
let kept = 0
report('the rest of a request', [
  { name: 'usage of a 3 kB body', value: microseconds(TIMES / 10, () => new UsageMeter().takeBody(whole)), unit: 'us' },
  { name: 'headers of a request', value: microseconds(TIMES / 10, () => readClientHeaders(fresh())) - freshCost, unit: 'us' },
  { name: 'headers of an attempt', value: microseconds(TIMES / 10, () => attemptHeaders(RAW, route, 'r1')), unit: 'us' },
  { name: 'headers of a response', value: microseconds(TIMES / 10, () => {
    kept += clientResponseHeaders(answered, routeHeaders(route, 'r1'), false).length
  }), unit: 'us' },
])
if (kept === 0) throw new Error('nothing was computed')
