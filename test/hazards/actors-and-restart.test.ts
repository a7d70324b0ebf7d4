import { Agent, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { EngineActor } from '../../src/actors/engine-actor.ts'
import { createEngine } from '../../src/app/create-engine.ts'
import { Scraping } from '../../src/app/scraping.ts'
import { START_CONFIGURATION } from '../../src/app/start.ts'
import { load } from '../../src/app/load.ts'
import { Engine } from '../../src/engine/engine.ts'
import type { Effect } from '../../src/engine/effects.ts'
import { encodeState, engineAt } from '../../src/replay/engine-at.ts'
import { engineOptions } from '../../src/replay/engine-options.ts'
import type { Input } from '../../src/wire/input.ts'
import { disaggregated, singleProfile } from '../story/configuration.ts'
import { aborted, ended, engineStarted, failed, joined, left, prompt, received, sent, started } from '../story/inputs.ts'
import { EPOCH, target, World } from '../story/world.ts'
import { answers, CHAT, doorTo, upstream } from '../integration/http/setting.ts'
import hazards from './cases/actors-and-restart.json' with { type: 'json' }

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of heap after a collection; the least of three, since what is about to be freed is no leak. */
const heap = (): number => Math.min(...[1, 2, 3].map(() => {
  collect()
  return process.memoryUsage().heapUsed
}))

const MEGABYTE = 1_000_000

/** An engine that keeps next to no receipts, so that what stays is a leak. */
const engine = (interpreter: 'table' | 'xstate'): { readonly take: (input: Input) => ReturnType<Engine['step']>; readonly engine: Engine } => {
  const made = new Engine(engineOptions([], { interpreter, receiptBytes: 1 << 16 }))
  let at = EPOCH
  return { engine: made, take: (input) => made.step(input, (at += 100)) }
}

const small = { shape: { tokenized: true, prompts: [prompt(128, [1, 2])], problem: '' } }

/** A request of each kind of end, in turn. */
const oneLife = (take: (input: Input) => ReturnType<Engine['step']>, i: number): void => {
  const { record } = take(received(`r-${i}`, small))
  const key = record.position
  if (i % 4 === 1) take(failed(key, 1, record.decisions[0] === undefined ? 'a' : target(record.decisions[0])))
  const attempt = i % 4 === 1 ? 2 : 1
  if (i % 4 === 2) {
    take(aborted(key))
    return
  }
  take(sent(key, attempt))
  take(started(key, attempt))
  take(ended(key, attempt))
}

/** What each case demands, by its id. */
const checks: Readonly<Record<string, () => void | Promise<void>>> = {
  'BUG-264': () => {
    for (const interpreter of ['table', 'xstate'] as const) {
      const { engine: made, take } = engine(interpreter)
      for (const input of [engineStarted(singleProfile()), joined('a'), joined('b')]) take(input)
      // The receipts' ring is filled first: it is kept on purpose, and bounded.
      for (let i = 0; i < 16_400; i += 1) oneLife(take, i)
      const before = heap()
      const timers = made.view.timers.size
      for (let i = 0; i < 10_000; i += 1) oneLife(take, i)
      expect(made.view.requests.size).toBe(0)
      expect(made.view.ledger.requests()).toEqual([])
      expect(made.view.timers.size).toBe(timers)
      expect((heap() - before) / MEGABYTE, interpreter).toBeLessThan(5)
    }
  },
  'BUG-267': () => {
    for (const interpreter of ['table', 'xstate'] as const) {
      const world = new World(disaggregated(16), interpreter).take(joined('a', 'decode'))
      const done = world.request(received('done', { proxied: false }))
      const live = world.request(received('live', { proxied: false }))
      world.take(sent(done.key), sent(live.key), ended(done.key))
      expect(world.effects.filter(({ kind }) => kind === 'closed')).toHaveLength(1)
      const restored = engineAt(engineOptions([], { interpreter, receiptBytes: 1 << 16 }), encodeState(world.engine))
      const after: Effect[] = []
      const take = (input: Input): number => after.push(...restored.step(input, (world.at += 1000)).effects)
      // The one that was over is not told of again, nor is anything done again for the one that is under way; both may
      // be reported on late, and a new run of the engine leaves what a data plane holds as it is.
      take(ended(done.key))
      take(engineStarted(disaggregated(16)))
      expect(after.filter(({ kind }) => kind !== 'wake')).toEqual([])
      take(ended(live.key))
      take(ended(live.key))
      expect(after.filter(({ kind }) => kind !== 'wake')).toMatchObject([{ kind: 'closed', request: live.key, outcome: 'completed' }])
      expect(restored.view.requests.size).toBe(0)
    }
  },
  'BUG-268': async () => {
    const said: string[] = []
    const local = await createEngine({ log: (message) => said.push(message) })
    try {
      local.join({ name: 'a', address: '10.0.0.1', port: 8000 })
      const cyclic: { self?: unknown } = {}
      cyclic.self = cyclic
      let heard = 0
      local.onEffect((effect) => {
        heard += 1
        if (effect.kind === 'routed' && effect.request === 3) throw Object.assign(new Error('a listener of mine'), { cyclic, big: 1n })
      })
      expect(await local.schedule({ requestId: 'one' })).toMatchObject({ kind: 'routed', request: 3 })
      expect(await local.schedule({ requestId: 'two' })).toMatchObject({ kind: 'routed', request: 4 })
      expect(heard).toBe(2)
      expect(said.filter((line) => !line.startsWith('journal'))).toEqual(['a listener failed: Error: a listener of mine'])
    } finally {
      await local.close()
    }
    // To an engine that has closed anything may be sent.
    expect(() => local.aborted(3)).not.toThrow()
    expect(() => local.sent(4n as unknown as number, 1)).not.toThrow()
  },
  'BUG-269': async () => {
    const { completed } = await load({ files: [START_CONFIGURATION], flags: new Map(), pluginModules: [], allowExperimental: false, endpoints: undefined })
    const made = new Engine(engineOptions([], { receiptBytes: 1 << 16 }))
    let at = EPOCH
    const actor = new EngineActor({
      engine: made,
      journal: { lastPosition: 0, acknowledgedPosition: 0, append: () => undefined, canAccept: () => true, lag: () => ({ records: 0, ageMs: 0 }) },
      clock: { now: () => (at += 10), wakeAt: () => undefined, stop: () => undefined },
      durability: 'async',
      fault: (error) => {
        throw error
      },
    })
    actor.submitOrThrow(engineStarted(completed))
    // Nothing listens there, so the scraper has to try each again and again, until it is told to forget it.
    const scraping = new Scraping({ actor, configuration: completed, intervalMs: 50, pollsMax: 8, observe: () => undefined, changed: () => undefined })
    const flap = (times: number): void => {
      for (let i = 0; i < times; i += 1) {
        const event = joined(`e${i % 3}`, 'decode', String(i))
        if (event.input?.kind === 'endpointJoined' && event.input.value.endpoint !== undefined) Object.assign(event.input.value.endpoint, { address: '127.0.0.1', port: 9 })
        actor.submitOrThrow(event)
        scraping.follow()
        actor.submitOrThrow(left(`e${i % 3}`))
        scraping.follow()
      }
    }
    const active = (): string[] => process.getActiveResourcesInfo().filter((name) => name === 'Timeout' || name.startsWith('TCP')).sort((a, b) => (a < b ? -1 : 1))
    try {
      const before = active()
      flap(100)
      const warm = heap()
      flap(1000)
      expect(made.view.fleet.present()).toEqual([])
      expect([made.view.fleet.atSlot(0), made.view.fleet.atSlot(1)]).toEqual([undefined, undefined])
      // The sweep that was asked for last finds nobody, and asks for no other.
      actor.submitOrThrow({ input: { kind: 'timerFired', value: { deadlineUs: at += 5_000_000 } } })
      expect(made.view.timers.size).toBe(0)
      // Calls under way are broken off; once they have ended nothing is left of them.
      await expect.poll(active, { timeout: 15_000 }).toEqual(before)
      expect((heap() - warm) / MEGABYTE).toBeLessThan(3)
      for (const plugin of made.view.pipeline.plugins) expect(JSON.stringify(plugin.dump?.() ?? {})).not.toContain('default/e')
    } finally {
      await scraping.close()
      actor.close()
    }
  },
  'BUG-272': async () => {
    const a = await upstream('a', (_request, response, body) => answers(response, { echo: (JSON.parse(body.toString()) as { secret: string }).secret.slice(0, 12) }))
    const setting = await doorTo([a.endpoint])
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    let ports: ReadonlySet<number> = new Set()
    const ask = (i: number): Promise<{ text: string; headers: string }> => new Promise((resolve, reject) => {
      const secret = `secret-${String(i).padStart(5, '0')}-${'x'.repeat(10_000)}`
      const asking = httpRequest(`${setting.url}${CHAT}`, { method: 'POST', agent, headers: { 'content-type': 'application/json', 'x-request-id': `r-${i}`, ...(i % 2 === 0 ? { 'x-even': `even-${i}` } : {}) } }, (response: IncomingMessage) => {
        ports = new Set([...ports, response.socket.localPort ?? 0])
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => { text += chunk }).on('end', () => resolve({ text, headers: JSON.stringify(response.headers) }))
      })
      asking.on('error', reject)
      asking.end(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }], secret }))
    })
    let warm = 0
    for (let i = 0; i < 1000; i += 1) {
      if (i === 200) warm = heap()
      const { text, headers } = await ask(i)
      expect(text).toContain(`secret-${String(i).padStart(5, '0')}`)
      expect(headers).toContain(`r-${i}"`)
      const seen = JSON.stringify(a.requests.at(-1)?.headers ?? {})
      expect(seen.includes('x-even')).toBe(i % 2 === 0)
      expect(seen).not.toContain(`r-${i - 1}"`)
      a.requests.length = 0
    }
    expect(ports.size).toBe(1)
    expect((heap() - warm) / MEGABYTE).toBeLessThan(5)
    agent.destroy()
  },
}

describe('hazards of actors and restarts', () => {
  it.each(hazards.cases)('$id: $symptom', async ({ id }) => {
    const check = checks[id]
    expect(check, `no check of ${id}`).toBeDefined()
    await check?.()
  }, 60_000)

  it('has a hazard for each check', () => expect(Object.keys(checks).sort()).toEqual(hazards.cases.map(({ id }) => id).sort()))
})
