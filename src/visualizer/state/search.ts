/** The nearest index after `from` (or before it) for which something holds; undefined when there is none. */
export const nextWhere = (length: number, from: number, direction: 1 | -1, holds: (index: number) => boolean): number | undefined => {
  for (let i = from + direction; i >= 0 && i < length; i += direction) if (holds(i)) return i
  return undefined
}

/** Place of the last of ascending values that is at most `value`; -1 when all are above. */
export const lastAtMost = (values: ArrayLike<number>, value: number): number => {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
