import type { RandomStream } from '../../core/random.ts'

/** The numbers from 0 to count - 1 in random order, each order equally likely. (Fisher-Yates) */
export const shuffled = (count: number, die: RandomStream): number[] => {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let i = count - 1; i > 0; i--) {
    const j = die.below(i + 1)
    const held = order[i] as number
    order[i] = order[j] as number
    order[j] = held
  }
  return order
}
