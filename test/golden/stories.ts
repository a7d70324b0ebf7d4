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

export const stories: Readonly<Record<string, () => World>> = { mixed, ties }
