/** Which rows of a long list are drawn. */
export interface RowWindow {
  readonly first: number
  readonly count: number
}

/** Rows seen at a scroll, with some above and below so that a quick scroll shows no gap. */
export const rowWindow = (rows: number, rowHeight: number, scrollTop: number, height: number): RowWindow => {
  const margin = 10
  const first = Math.max(0, Math.min(rows, Math.floor(scrollTop / rowHeight)) - margin)
  return { first, count: Math.min(rows - first, Math.ceil(height / rowHeight) + 2 * margin) }
}
