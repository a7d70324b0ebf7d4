import { afterEach } from 'vitest'
import { startEndpoint } from '../../../src/simulation/endpoint/endpoint.ts'
import type { EndpointOptions, EndpointState, SimulatedEndpoint } from '../../../src/simulation/endpoint/endpoint.ts'

const open: SimulatedEndpoint[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()))
})

/** An endpoint that is closed after the test; fast unless said. */
export async function started(options: EndpointOptions = {}): Promise<SimulatedEndpoint> {
  const endpoint = await startEndpoint({ speed: 100, ...options })
  open.push(endpoint)
  return endpoint
}

export interface Reply {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

export async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

export function chat(content: unknown, change: object = {}): object {
  return { model: 'sim-model', messages: [{ role: 'user', content }], max_tokens: 4, ...change }
}

/** The state once it fits; looked at again after each turn of the event loop. */
export async function stateOf(endpoint: SimulatedEndpoint, fits: (state: EndpointState) => boolean): Promise<EndpointState> {
  for (;;) {
    const state = endpoint.state()
    if (fits(state)) return state
    await new Promise((resolve) => setImmediate(resolve))
  }
}
