import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/** One line of a bench's report. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the figure should be at most, or at least where `atLeast` is true; undefined where it is only told. */
  readonly goal?: number
  readonly atLeast?: boolean
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

/** Microseconds that this thread has computed: what else runs on the machine does not count. Some systems count in steps of 4 ms: a round should take 100. */
const computed = (): number => {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** Microseconds of computing a call of `work`: median over rounds of `times` calls, after two rounds to warm up. */
export const microseconds = (times: number, work: (i: number) => void, rounds = 9): number => {
  const taken: number[] = []
  for (let round = -2; round < rounds; round += 1) {
    const start = computed()
    for (let i = 0; i < times; i += 1) work(i)
    if (round >= 0) taken.push((computed() - start) / times)
  }
  return median(taken)
}

/** Bytes of heap and buffers that stay after `make`, which gives what must be kept. */
export const retained = <T>(make: () => T): { readonly bytes: number; readonly kept: T } => {
  gc()
  const before = process.memoryUsage()
  const kept = make()
  gc()
  const after = process.memoryUsage()
  return { bytes: after.heapUsed + after.external - before.heapUsed - before.external, kept }
}

/** Prints figures, one a line, with their goals. */
export const report = (title: string, figures: readonly Figure[]): void => {
  console.log(`\n${title}`)
  for (const { name, value, unit, goal, atLeast } of figures) {
    const met = goal === undefined ? '' : ` (goal: ${atLeast === true ? 'at least' : 'at most'} ${goal} ${unit}, ${(atLeast === true ? value >= goal : value <= goal) ? 'met' : 'MISSED'})`
    console.log(`  ${name}: ${rounded(value)} ${unit}${met}`)
  }
}

const rounded = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 1 ? value.toFixed(2) : value.toFixed(4))
