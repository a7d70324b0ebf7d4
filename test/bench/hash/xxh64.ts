/**
 * What hashing costs: XXH64 of 16 B to 64 kB, and the block keys of a prompt of 8,192 tokens, by the machine and by
 * JavaScript alone. It is what keeps whole prompts in WebAssembly: over three times faster would do, it is 10 to 25 times.
 * `node test/bench/hash/xxh64.ts`
 */

import { chainKeys } from '../../../src/core/hash/xxh64-chain.ts'
import { xxh64Into } from '../../../src/core/hash/xxh64.ts'
import { microseconds, report } from '../harness.ts'

const tokens = Uint32Array.from({ length: 8192 }, (_, i) => Math.imul(i, 2654435761))
const bytes = new Uint8Array(tokens.buffer)
const out = new Uint32Array(2)
const mask = Uint32Array.of(1, 2, 3, 4)

/** The chain with nothing but the short form, which never leaves JavaScript. */
const chainInJavaScript = (blockBytes: number): void => {
  const link = new Uint32Array(4)
  const linkBytes = new Uint8Array(link.buffer)
  for (let at = 0; at < bytes.length; at += blockBytes) {
    xxh64Into(bytes, at, at + blockBytes, 0, 0, link, 0)
    xxh64Into(linkBytes, 0, 16, 0, 0, link, 2)
  }
}

report(
  'XXH64',
  [16, 64, 256, 1024, 16_384, 32_768].map((length) => ({
    name: `${length} B`,
    value: 1000 * microseconds(20_000_000 / (length + 500), () => xxh64Into(bytes, 0, length, 0, 0, out, 0)),
    unit: 'ns',
  })),
)

const js = microseconds(200, () => chainInJavaScript(256))
const machine = microseconds(2000, () => chainKeys(tokens, 64, undefined, 1, 2))
report('block keys of 8,192 tokens', [
  { name: 'blocks of 64, JavaScript', value: js, unit: 'µs' },
  { name: 'blocks of 64', value: machine, unit: 'µs' },
  { name: 'JavaScript to machine', value: js / machine, unit: 'times', goal: 3, atLeast: true },
  { name: 'blocks of 64, masked', value: microseconds(2000, () => chainKeys(tokens, 64, undefined, 1, 2, mask)), unit: 'µs' },
  { name: 'blocks of 16', value: microseconds(1000, () => chainKeys(tokens, 16, undefined, 1, 2)), unit: 'µs' },
])
