/** A cumulative histogram in the exposition sense: how many observations were at or below each bound, sum and count. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0
  #count = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = new Array<number>(bounds.length).fill(0)
  }

  observe(value: number): void {
    this.#sum += value
    this.#count++
    for (let i = this.bounds.length - 1; i >= 0 && value <= (this.bounds[i] as number); i--) {
      this.#counts[i] = (this.#counts[i] as number) + 1
    }
  }

  /** The lines of this histogram under `name`; `labels` is the inside of the braces, empty for none. */
  lines(name: string, labels: string): string[] {
    const inside = labels === '' ? '' : `${labels},`
    const braces = labels === '' ? '' : `{${labels}}`
    return [
      ...this.bounds.map((bound, i) => `${name}_bucket{${inside}le="${bound}"} ${this.#counts[i] as number}`),
      `${name}_bucket{${inside}le="+Inf"} ${this.#count}`,
      `${name}_sum${braces} ${this.#sum}`,
      `${name}_count${braces} ${this.#count}`,
    ]
  }
}
