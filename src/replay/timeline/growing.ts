/** Numbers in a row that grows; for columns of millions of values without an object each. */
export class Growing {
  private values: Float64Array<ArrayBuffer> = new Float64Array(256)
  length = 0

  /** Adds a value and gives its place. */
  push(value: number): number {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.values.length * 2)
      larger.set(this.values)
      this.values = larger
    }
    this.values[this.length] = value
    this.length += 1
    return this.length - 1
  }

  at(index: number): number {
    return this.values[index] as number
  }

  set(index: number, value: number): void {
    this.values[index] = value
  }

  /** What was pushed so far: a view, valid until the next push. */
  view(): Float64Array {
    return this.values.subarray(0, this.length)
  }

  /** What was pushed so far, to keep or to give away. */
  copy(): Float64Array<ArrayBuffer> {
    return this.values.slice(0, this.length)
  }

  /** Place of the last of ascending values that is at most `value`; -1 when all are above. */
  lastAtMost(value: number): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.values[middle] as number) <= value) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}

/** Texts by number, each kept once. */
export class Names {
  private readonly numbers = new Map<string, number>()
  readonly list: string[] = []

  of(name: string): number {
    let number = this.numbers.get(name)
    if (number === undefined) {
      number = this.list.length
      this.numbers.set(name, number)
      this.list.push(name)
    }
    return number
  }
}
