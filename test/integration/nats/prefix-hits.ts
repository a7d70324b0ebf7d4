import { createHash } from 'node:crypto'
import { NatsWorld, chatRequest, rowsOf } from './engine-on-nats.ts'

/** Characters a block: what the estimator takes for 64 tokens. */
const BLOCK = 256
const WORKERS = 8

export interface Conversations {
  readonly endpoints: number
  readonly conversations: number
  readonly turns: number
}

/** What came of a trace: blocks of prompts that their endpoints had already, and by how many replicas it was served. */
export interface PrefixHits {
  readonly share: number
  readonly byReplica: readonly number[]
}

/** Text that no other part of the trace has in common. */
const textOf = (name: string, length: number): string => {
  let text = ''
  for (let part = 0; text.length < length; part++) text += createHash('sha256').update(`${name} ${part}`).digest('hex')
  return text.slice(0, length)
}

/**
 * Conversations that grow turn by turn, all at once, served by so many replicas behind the queue group. The endpoints'
 * caches are kept here, without bound: the truth that the replicas guess at.
 */
export const prefixHits = async (replicas: number, { endpoints, conversations, turns }: Conversations): Promise<PrefixHits> => {
  const world = await NatsWorld.start()
  try {
    for (let n = 0; n < endpoints; n++) await world.agent(`default/e${n}`)
    const engines = []
    const served = Array.from({ length: replicas }, () => 0)
    for (let n = 0; n < replicas; n++) {
      const engine = await world.engine({ replica: `replica-${n}`, 'log-level': 'error', 'nats-endpoint-timeout': '10m' })
      engine.host.actor.turns.subscribe(({ turn }) => {
        if (turn.record.input?.input?.kind === 'requestReceived') served[n]! += 1
      })
      engines.push(engine)
    }
    for (const engine of engines) while ((await rowsOf(engine)).length < endpoints) await new Promise((resolve) => setTimeout(resolve, 20))
    const client = await world.client()
    const caches = new Map<string, Set<string>>()
    const count = { blocks: 0, hits: 0 }
    const histories = Array.from({ length: conversations }, (_, n) => textOf(`conversation ${n}`, 4 * BLOCK))
    for (let turn = 0; turn < turns; turn++) {
      let next = 0
      const work = async (): Promise<void> => {
        for (let at = next++; at < conversations; at = next++) {
          // Another order each turn, so that no conversation keeps to one replica.
          const which = (at * 7 + turn * 13) % conversations
          const content = (histories[which] ?? '') + textOf(`${which} asks ${turn}`, 2 * BLOCK)
          histories[which] = content
          const request = await client.schedule(chatRequest(content))
          const { target } = request.route
          const cache = caches.get(target?.endpoint ?? '') ?? new Set()
          caches.set(target?.endpoint ?? '', cache)
          const blocks = Array.from({ length: Math.floor(content.length / BLOCK) }, (_, n) => content.slice(0, (n + 1) * BLOCK))
          count.blocks += blocks.length
          const misses = blocks.findIndex((block) => !cache.has(block))
          count.hits += misses < 0 ? blocks.length : misses
          for (const block of blocks) cache.add(block)
          await request.ended({ cause: 'natural', status: 200 })
        }
      }
      await Promise.all(Array.from({ length: WORKERS }, work))
    }
    return { share: count.hits / count.blocks, byReplica: served }
  } finally {
    await world.close()
  }
}
