/** Orders strings by UTF-16 code unit: the same on every machine and in every locale. */
export const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Orders things by the id they bear. */
export const byId = (a: { readonly id: string }, b: { readonly id: string }): number => byCodeUnit(a.id, b.id)
