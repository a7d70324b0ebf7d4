/** What stands for every name beyond the bound. */
export const OTHER = 'other'

/**
 * Names that clients choose, as label values: the first so many keep theirs, the rest are one. Names that the
 * configuration knows are never folded. (llm-d: cardinality of model names and fairness ids)
 */
export class BoundedNames {
  private readonly configured: ReadonlySet<string>
  private readonly max: number
  private readonly known = new Set<string>()

  constructor(max: number, configured: Iterable<string> = []) {
    this.max = max
    this.configured = new Set(configured)
  }

  fold(name: string): string {
    if (name === '' || this.known.has(name) || this.configured.has(name)) return name
    if (this.known.size >= this.max) return OTHER
    this.known.add(name)
    return name
  }
}
