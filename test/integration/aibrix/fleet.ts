import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, Pool } from '../../../src/simulation/index.ts'
import { fleetIn, serveIn, temporaryFolder } from '../../story/server.ts'

/** A configuration of the router. */
export const configurationOf = (parameters: Readonly<Record<string, unknown>>): string => `apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: EndpointPickerConfig
plugins:
  - type: aibrix-pd-profile-handler
    parameters: ${JSON.stringify(parameters)}
schedulingProfiles:
  - name: decode
    plugins: []
  - name: prefill
    plugins: []
`

/** A server with AIBrix's router before simulated endpoints of one engine, in two rolesets. */
export interface PdFleet {
  readonly folder: string
  readonly pool: Pool
  readonly server: Awaited<ReturnType<typeof serveIn>>
  close(): Promise<void>
}

export const pdFleet = async (engine: Engine, parameters: Readonly<Record<string, unknown>> = {}, settings: Readonly<Record<string, string>> = {}): Promise<PdFleet> => {
  const folder = temporaryFolder()
  const pool = await fleetIn(folder.path, { decode: 2, prefill: 2, encode: 0, rolesets: 2, engine, speed: 50 })
  const configuration = join(folder.path, 'configuration.yaml')
  writeFileSync(configuration, configurationOf(parameters))
  const server = await serveIn(folder.path, settings, configuration)
  return {
    folder: folder.path, pool, server,
    close: async () => {
      await server.close()
      await pool.close()
      folder.remove()
    },
  }
}

/** What a request came to at its client. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export const ask = async (url: string, body: Readonly<Record<string, unknown>> | string, signal?: AbortSignal): Promise<Answer> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export const chat = (content: string, more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({ model: 'sim-model', max_tokens: 4, messages: [{ role: 'user', content }], ...more })
