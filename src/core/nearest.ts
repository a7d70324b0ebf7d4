/** The known word nearest to a wrong one, or undefined when none is near (more than a third of its letters differ). */
const nearest = (word: string, known: Iterable<string>): string | undefined => {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  const wanted = word.toLowerCase()
  for (const candidate of known) {
    const distance = candidate.toLowerCase().startsWith(wanted) && wanted.length > 3 ? 1 : editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** "; did you mean `x`?" or nothing. */
export const didYouMean = (word: string, known: Iterable<string>): string => {
  const found = nearest(word, known)
  return found === undefined ? '' : `; did you mean \`${found}\`?`
}

/** Letters to insert, delete, replace, or swap with a neighbour. (Optimal string alignment) */
const editDistance = (a: string, b: string): number => {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(at(row, j - 1) + 1, at(last, j) + 1, at(last, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, at(beforeLast, j - 2) + 1)
      row.push(cost)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

const at = (row: readonly number[], index: number): number => row[index] ?? 0
