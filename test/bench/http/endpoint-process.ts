// The endpoint behind both servers, a process of its own: reads the request, then streams tokens at their times.
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import { askedBy } from './answers.ts'
import type { AskedAnswer } from './answers.ts'
import { serveParent } from './child.ts'

const TOKEN = `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta: { content: ' token' }, finish_reason: null }] })}\n\n`
const DONE = 'data: [DONE]\n\n'
const REPLY = JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'token' } }], usage: { prompt_tokens: 500, completion_tokens: 1, total_tokens: 501 } })

const METRICS = ['vllm:num_requests_running', 'vllm:num_requests_waiting', 'vllm:kv_cache_usage_perc'].map((name) => `# TYPE ${name} gauge\n${name}{model_name="bench"} 0\n`).join('')

const stream = (response: ServerResponse, { tokens, gapMs }: AskedAnswer): void => {
  const start = performance.now()
  let sent = 0
  const next = (): void => {
    response.write(TOKEN)
    sent++
    if (sent === tokens) response.end(DONE)
    else if (gapMs === 0) setImmediate(next)
    // Against the start: late timers do not add up.
    else setTimeout(next, Math.max(0, start + sent * gapMs - performance.now()))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  next()
}

const server = createServer((request, response) => {
  const asked = askedBy(request.url ?? '')
  request.resume().on('end', () => {
    if (request.url === '/metrics') response.end(METRICS)
    else if (asked.tokens > 0) stream(response, asked)
    else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(REPLY.length) })
      response.end(REPLY)
    }
  })
})
server.keepAliveTimeout = 60_000
serveParent(server)
