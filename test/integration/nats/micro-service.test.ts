import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MicroService } from '../../../src/adapters/nats/micro-service.ts'
import type { MicroRequest } from '../../../src/adapters/nats/micro-service.ts'
import { NatsServer } from './nats-server.ts'

const REQUESTS = 8
/** More than a service handles without a pause. */
const WORK_MS = 3

describe('a micro service', () => {
  let server: NatsServer
  beforeAll(async () => {
    server = await NatsServer.start()
  })
  afterAll(() => server.stop())

  const given = async (subject: string, handle: (request: MicroRequest) => void) => {
    const { connection } = await server.link()
    const client = (await server.link()).connection
    const service = new MicroService(connection, { name: 'test', version: '1.0.0', description: '', metadata: {}, endpoint: { name: 'test', subject }, queueGroup: 'q', handle })
    await connection.flush()
    /** All at once; the time of each answer's arrival is its place in the list. */
    const ask = (): Promise<string>[] => Array.from({ length: REQUESTS }, (_, index) => client.request(subject, String(index), { timeout: 10_000 }).then((answer) => answer.string()))
    return { service, client, ask }
  }

  const busy = (): void => {
    const end = performance.now() + WORK_MS
    while (performance.now() < end);
  }

  it('given requests that came together and take long, then others have their turn between them, and the answers keep the order', async () => {
    const events: string[] = []
    const { service, ask } = await given('turns', (request) => {
      const number = request.message.string()
      busy()
      setImmediate(() => events.push(`after ${number}`))
      events.push(number)
      request.answer(request.message.data)
    })
    const answered: string[] = []
    await Promise.all(ask().map(async (answer) => answered.push(await answer)))
    expect(answered).toEqual(Array.from({ length: REQUESTS }, (_, index) => String(index)))
    expect(events.slice(0, 4)).toEqual(['0', 'after 0', '1', 'after 1'])
    await service.stop()
  })

  it('given requests that wait for their turn, when it stops, then each is answered', async () => {
    const { service, client, ask } = await given('stop', (request) => {
      busy()
      request.answer(request.message.data)
    })
    const asked = ask()
    // The server has them all.
    await client.flush()
    await service.stop()
    expect(await Promise.all(asked)).toHaveLength(REQUESTS)
  })
})
