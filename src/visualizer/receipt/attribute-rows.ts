import type { AttributeUse } from '../../replay/flip/attributes-used.ts'

/** One attribute of one endpoint, whoever read it. */
export interface AttributeRow extends Pick<AttributeUse, 'name' | 'endpoint' | 'value' | 'ageUs'> {
  readonly readers: readonly string[]
}

/** Each attribute of each endpoint once, also where several profiles read it. */
export const attributeRows = (uses: readonly AttributeUse[]): AttributeRow[] => {
  const rows = new Map<string, AttributeRow & { readonly readers: string[] }>()
  for (const { profile, plugins, name, endpoint, value, ageUs } of uses) {
    const key = `${name} ${endpoint}`
    const row = rows.get(key) ?? { name, endpoint, value, ageUs, readers: [] }
    rows.set(key, row)
    for (const plugin of plugins) row.readers.push(`${plugin} (${profile})`)
  }
  return [...rows.values()]
}
