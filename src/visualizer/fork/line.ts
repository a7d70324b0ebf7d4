/** An SVG path along values that lie evenly from left to right; `most` is at the top. Numbers that are not known leave a gap. */
export const linePath = (values: readonly number[], most: number, width: number, height: number): string => {
  const step = width / Math.max(1, values.length - 1)
  let path = ''
  let drawing = false
  values.forEach((value, i) => {
    if (Number.isNaN(value)) {
      drawing = false
      return
    }
    path += `${drawing ? 'L' : 'M'}${round(i * step)} ${round(height - (value / Math.max(most, Number.MIN_VALUE)) * height)}`
    drawing = true
  })
  return path
}

const round = (value: number): number => Math.round(value * 100) / 100
