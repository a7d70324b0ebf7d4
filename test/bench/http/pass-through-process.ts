// The bare pass-through: reads and parses the body, sends it on with undici's dispatch, and pipes the answer. Nothing else.
import { createServer } from 'node:http'
import { Pool } from 'undici'
import { serveParent } from './child.ts'

const pool = new Pool(`http://${process.argv[2] ?? ''}`, { headersTimeout: 0, bodyTimeout: 0 })

serveParent(createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    JSON.parse(body.toString())
    pool.dispatch({ method: 'POST', path: request.url ?? '/', headers: { 'content-type': 'application/json' }, body }, {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status, headers) => {
        const { 'content-type': type, 'content-length': length } = headers
        response.writeHead(status, { 'content-type': String(type), ...(length === undefined ? {} : { 'content-length': String(length) }) })
      },
      onResponseData: (_controller, chunk) => response.write(chunk),
      onResponseEnd: () => response.end(),
      onResponseError: () => response.destroy(),
    })
  })
}))
