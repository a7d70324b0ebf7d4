import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { HttpDoor } from '../../../src/adapters/http/door.ts'
import { BODY, CHAT, DONE, STREAM_BODY, closing, doorTo, jsonPreparation, post, rawClient, token, upstream } from './setting.ts'

describe('back-pressure', () => {
  it('stops an endpoint that sends faster than the client reads', async () => {
    const chunk = Buffer.alloc(64 * 1024, 97)
    const total = 1024
    let written = 0
    let stalled: () => void = () => undefined
    const isStalled = new Promise<void>((resolve) => {
      stalled = resolve
    })
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      const pump = (): void => {
        while (written < total) {
          written++
          if (!response.write(chunk)) {
            const timer = setTimeout(stalled, 500)
            response.once('drain', () => {
              clearTimeout(timer)
              pump()
            })
            return
          }
        }
        response.end()
      }
      pump()
    })
    const setting = await doorTo([a.endpoint])
    const { socket } = rawClient(setting.port)
    socket.pause()
    let bytes = 0
    socket.on('data', (data: Buffer) => {
      bytes += data.length
    })
    socket.pause()
    socket.write(`POST ${CHAT} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`)
    await isStalled
    // What lies in the buffers of two connections and no more, of 64 MiB.
    expect(written).toBeLessThan(total / 2)
    socket.resume()
    await once(socket, 'close')

    expect(bytes).toBeGreaterThanOrEqual(total * chunk.length)
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'ended', end: { bodyBytes: total * chunk.length } })
  })
})

describe('closing', () => {
  it('lets open requests end, and takes no new ones', async () => {
    let finish: () => void = () => undefined
    const a = await upstream('a', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(token('a'))
      finish = () => {
        response.end(DONE)
      }
    })
    const setting = await doorTo([a.endpoint])
    const response = await post(setting, STREAM_BODY)
    const closed = setting.door.close(60_000)
    await expect(fetch(`${setting.url}/v1/models`)).rejects.toThrow()
    finish()

    expect(await response.text()).toBe(token('a') + DONE)
    await closed
    expect(setting.scheduler.story().at(-1)).toMatchObject({ what: 'ended' })
  })

  it('ends what outlasts the grace, told once', async () => {
    const a = await upstream('a', () => undefined)
    const setting = await doorTo([a.endpoint])
    const response = post(setting)
    await setting.scheduler.until(({ what }) => what === 'sent')
    await setting.door.close(1)

    expect([(await response).status, (await response).headers.get('x-llm-d-request-dropped-reason')]).toEqual([503, 'rejected-shutting-down'])
    expect(setting.scheduler.story().at(-1)).toEqual({ what: 'aborted', cause: 'scheduler-restarted' })
    expect(setting.scheduler.openLoad).toBe(0)
  })

  it('frees the port; a taken one is named with its flag', async () => {
    const setting = await doorTo([])
    const second = new HttpDoor({ listen: { host: '127.0.0.1', port: setting.port }, scheduler: setting.scheduler, preparation: jsonPreparation, endpoints: () => [] })
    await expect(second.listen()).rejects.toMatchObject({ code: 'port-in-use', message: expect.stringContaining('--listen') as string })
    await setting.door.close(0)
    expect(await second.listen()).toEqual({ host: '127.0.0.1', port: setting.port })
    closing(() => second.close(0))
  })
})
