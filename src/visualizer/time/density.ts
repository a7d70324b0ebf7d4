/** How many records fall into each of so many equal stretches of positions, and which bear a mark. */
export const density = (atUs: Float64Array, marks: Float64Array, mask: number, bins: number): { readonly rates: readonly number[]; readonly marked: readonly number[] } => {
  const rates: number[] = []
  const marked: number[] = []
  const size = atUs.length / bins
  for (let bin = 0; bin < Math.min(bins, atUs.length); bin += 1) {
    const from = Math.floor(bin * size)
    const to = Math.max(from + 1, Math.floor((bin + 1) * size))
    // Records a second, so that a busy stretch stands higher than an idle one of as many records.
    const span = Math.max(1, (atUs[Math.min(to, atUs.length - 1)] as number) - (atUs[from] as number))
    rates.push((to - from) / span)
    let count = 0
    for (let i = from; i < to; i += 1) if (((marks[i] as number) & mask) !== 0) count += 1
    marked.push(count)
  }
  const most = Math.max(...rates, 1e-12)
  return { rates: rates.map((rate) => Math.sqrt(rate / most)), marked }
}
