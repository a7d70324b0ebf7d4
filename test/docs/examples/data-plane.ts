import type { SchedulerClient } from '../../../src/client/index.ts'

/** Sends a request where the schedulers of the pool say, and tells them what becomes of it. Throws RequestRefused. */
export const relay = async (client: SchedulerClient, path: string, body: Uint8Array<ArrayBuffer>): Promise<string> => {
  const request = await client.schedule({ path, body })
  for (;;) {
    const { target, headers } = request.route
    const given = headers.filter(({ value }) => value !== '').map(({ name, value }): [string, string] => [name, value])
    const response = await fetch(`http://${target?.hostPort ?? ''}${path}`, { method: 'POST', body, headers: given }).catch(() => undefined)
    if (response === undefined || response.status >= 500) {
      // The next route, where there is one.
      await request.failed(response === undefined ? 'connect' : 'unavailable', response?.status ?? 0, true)
      continue
    }
    await request.started(response.status, false)
    const text = await response.text()
    await request.ended({ cause: 'natural', status: response.status, bodyBytes: text.length })
    return text
  }
}
