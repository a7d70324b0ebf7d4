/** Columns padded to their widest cell; numbers to the right. Without a head only the rows. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string => {
  const all = head.length === 0 ? rows : [head, ...rows]
  const widths: number[] = []
  for (const row of all) row.forEach((cell, i) => { widths[i] = Math.max(widths[i] ?? 0, cell.length) })
  return all.map((row) => row.map((cell, i) => (isNumber(cell) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('  ').trimEnd()).join('\n')
}

const isNumber = (cell: string): boolean => /^-?[\d.,]+(e[+-]?\d+)?( ms| %)?$/.test(cell)
