/** The nearest index after `from` (or before it) for which something holds; undefined when there is none. */
export const nextWhere = (length: number, from: number, direction: 1 | -1, holds: (index: number) => boolean): number | undefined => {
  for (let i = from + direction; i >= 0 && i < length; i += direction) if (holds(i)) return i
  return undefined
}
