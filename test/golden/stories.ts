import { disaggregated, singleProfile } from '../story/configuration.ts'
import { aborted, draining, ended, engineStarted, failed, joined, left, progressed, prompt, received, sent, started, telemetry } from '../story/inputs.ts'
import { target, World } from '../story/world.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const ROLES = ['decode', 'decode', 'decode', 'prefill', 'prefill', 'encode', 'prefill-decode', '']

const everybody = (world: World, turn: number): void => {
  world.step(telemetry(NAMES.map((_, slot) => ({ slot, waiting: (slot * 5 + turn * 3) % 11, kv: ((slot * 17 + turn * 7) % 100) / 100 }))), 50)
}

/** All kinds of ends, retries, images, joins, drains, expiries and a restart under another configuration. */
export const mixed = (): World => {
  const world = new World(disaggregated(512)).take(...NAMES.map((name, i) => joined(name, ROLES[i])))
  for (let i = 0; i < 120; i += 1) {
    if (i % 5 === 0) everybody(world, i)
    const media = i % 9 === 0 ? [{ modality: 'image', hash: (i * 77).toString(16), offset: 0, length: 225 }] : []
    const { key, decision } = world.request(received(`m-${i}`, {
      proxied: i % 4 !== 3,
      shape: { tokenized: true, prompts: [{ ...prompt(200 + ((i * 331) % 4000), [1, 2, 3, 4, 5].slice(0, i % 6), 5000 + i * 100), media }], problem: '' },
    }))
    if (i % 7 === 1) world.take(failed(key, 1, target(decision)))
    const attempt = i % 7 === 1 ? 2 : 1
    if (i % 11 !== 3) world.take(sent(key, attempt))
    if (i % 13 !== 5) world.take(started(key, attempt), progressed(key, i))
    if (i % 6 === 2) world.take(aborted(key))
    else if (i % 17 !== 4) world.take(ended(key, attempt))
    if (i === 40) world.take(draining('b'), left('h'))
    if (i === 60) world.take(joined('h', 'decode', '2'), joined('b', 'decode', '1'))
    if (i === 80) world.take(engineStarted(singleProfile(), 99n))
    if (i % 30 === 29) world.pass(40_000)
  }
  return world.pass(700_000)
}

/** Ties, where only the die decides. */
const ties = (): World => {
  const world = new World(singleProfile(), 'table', 12_345_678_901_234_567_890n).take(...NAMES.map((name) => joined(name)))
  for (let i = 0; i < 60; i += 1) world.take(ended(world.request(received(`t-${i}`, { shape: { tokenized: false, prompts: [], problem: '' } })).key))
  return world
}

/** Load and prompts of two peers: what they hold, what it leaves in the caches, and one that is gone. */
const peers = (): World => {
  const world = new World(singleProfile(), 'table', 3n).take(...NAMES.slice(0, 5).map((name) => joined(name)))
  const sequences = new Map<string, number>()
  for (let i = 0; i < 60; i += 1) {
    const replica = `peer-${i % 2}`
    const sequence = (sequences.get(replica) ?? 0) + 1
    sequences.set(replica, sequence)
    const conversation = 100 * (i % 12)
    const { blocks } = prompt(640 + 64 * i, [], conversation)
    const assigned = [{
      request: sequence, attempt: 1, profile: 'default', endpoint: `default/${NAMES[(i * 3) % 5] ?? ''}`, incarnation: i % 10 === 9 ? 'another' : '1',
      promptTokens: 640, outputTokens: 8, blocks: [...blocks],
    }]
    const released = sequence > 3 ? [{ request: sequence - 3, attempt: 1, profile: 'default' }] : []
    world.take({ input: { kind: 'peerLoadReported', value: { replica, runId: 'run', sequence, opens: sequence % 16 === 1, assigned, released } } })
    if (i === 45) world.take({ input: { kind: 'replicaLeaseEnded', value: { replica: 'peer-1', runId: 'run' } } })
    if (i % 10 === 4) world.step(telemetry(NAMES.slice(0, 5).map((_, slot) => ({ slot, waiting: (slot + i) % 4, kv: 0.2 }))), 50)
    world.take(ended(world.request(received(`p-${i}`, { shape: { tokenized: true, prompts: [prompt(960, [], 100 * ((i * 5) % 12))], problem: '' } })).key))
  }
  return world
}

export const stories: Readonly<Record<string, () => World>> = { mixed, peers, ties }
