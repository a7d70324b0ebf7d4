import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closed, listening } from '../../story/listening.ts'
import { serveIn, temporaryFolder } from '../../story/server.ts'
import { configurationOf } from './fleet.ts'

/** A request that an endpoint got whole. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Behaviour = (request: Received, response: ServerResponse) => void

/** An endpoint that does as it is told, and remembers what it got and which connections were broken off. */
export class Stub {
  readonly received: Received[] = []
  behaviour: Behaviour = (_request, response) => response.end('{}')
  /** Requests whose client went away before they were answered. */
  broken = 0
  private readonly server: Server
  private readonly listeners: (() => void)[] = []

  constructor() {
    this.server = createServer((request, response) => this.take(request, response))
  }

  listen(): Promise<number> {
    return listening(this.server)
  }

  close(): Promise<void> {
    return closed(this.server)
  }

  /** Settles as soon as this is true of the stub. */
  async until(is: (stub: this) => boolean): Promise<void> {
    while (!is(this)) await new Promise<void>((resolve) => this.listeners.push(resolve))
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === '/metrics') {
      response.writeHead(404).end()
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const received = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() }
      this.received.push(received)
      this.tell()
      this.behaviour(received, response)
    })
    response.on('close', () => {
      if (response.writableFinished) return
      this.broken += 1
      this.tell()
    })
  }

  private tell(): void {
    for (const listener of this.listeners.splice(0)) listener()
  }
}

export const answering = (status: number, body: string): Behaviour => (_request, response) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body)
}

/** Never answers. */
export const silent: Behaviour = () => undefined

export const DECODED: string = JSON.stringify({ id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'done' } }], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } })

/** A server with AIBrix's router before one pair of stubs. */
export interface StubFleet {
  readonly prefill: Stub
  readonly decode: Stub
  readonly folder: string
  readonly server: Awaited<ReturnType<typeof serveIn>>
  /** What is counted on any endpoint: prefills, pending decodes, running requests, and the engine's own assignments. */
  held(): Promise<readonly number[]>
  metrics(): Promise<string>
  close(): Promise<void>
}

export const stubFleet = async (engine: string, parameters: Readonly<Record<string, unknown>> = {}): Promise<StubFleet> => {
  const folder = temporaryFolder()
  const [prefill, decode] = [new Stub(), new Stub()]
  decode.behaviour = answering(200, DECODED)
  const [prefillPort, decodePort] = [await prefill.listen(), await decode.listen()]
  const endpoint = (role: string, port: number): string => `  - {name: ${role}-0, address: 127.0.0.1, port: "${port}", labels: {role-name: ${role}, roleset-name: rs, model.aibrix.ai/engine: ${engine}}}\n`
  writeFileSync(join(folder.path, 'endpoints.yaml'), `endpoints:\n${endpoint('prefill', prefillPort)}${endpoint('decode', decodePort)}`)
  writeFileSync(join(folder.path, 'configuration.yaml'), configurationOf(parameters))
  const server = await serveIn(folder.path, { 'refresh-metrics-interval': '10s' }, join(folder.path, 'configuration.yaml'))
  const plugin = (type: string): unknown => server.host.actor.engine.view.pipeline.plugins.find(({ typedName }) => typedName.type === type)?.dump?.()
  return {
    prefill, decode, server,
    folder: folder.path,
    held: async () => {
      const { endpoints } = (await (await fetch(`${server.adminUrl}/endpoints`)).json()) as { endpoints: { requests: number }[] }
      const router = plugin('aibrix-pd-profile-handler') as { endpoints: { prefills: number; pendingDecodes: number }[] }
      const measured = plugin('aibrix-metrics-producer') as { runningRequests: number | undefined }[]
      const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
      return [
        sum(router.endpoints.map(({ prefills }) => prefills)), sum(router.endpoints.map(({ pendingDecodes }) => pendingDecodes)),
        sum(measured.map(({ runningRequests }) => runningRequests ?? 0)), sum(endpoints.map(({ requests }) => requests)),
      ]
    },
    metrics: async () => (await fetch(`${server.adminUrl}/metrics`)).text(),
    close: async () => {
      await server.close()
      await Promise.all([prefill.close(), decode.close()])
      folder.remove()
    },
  }
}
