/** The views, in the order of their tabs. */
export const VIEWS = ['fleet', 'requests', 'machines', 'records', 'fork'] as const
export type View = (typeof VIEWS)[number]

/** Where one stands: all that a link can hold. */
export interface Place {
  readonly view: View
  /** Position of the record at the cursor; undefined for the last. */
  readonly at: number | undefined
  /** Request chosen, by position of its arrival. */
  readonly request: number | undefined
  /** Stretch of time shown, in microseconds since the epoch. */
  readonly span: readonly [from: number, to: number] | undefined
}

/** The fragment of an address that leads to a place. */
export const linkTo = ({ view, at, request, span }: Place): string => {
  const query = new URLSearchParams()
  if (at !== undefined) query.set('at', String(at))
  if (request !== undefined) query.set('request', String(request))
  if (span !== undefined) query.set('span', `${Math.round(span[0])}-${Math.round(span[1])}`)
  const text = query.toString()
  return `#/${view}${text === '' ? '' : `?${text}`}`
}

/** The place that a fragment leads to; what cannot be read is left out. */
export const placeOf = (fragment: string): Place => {
  const [path = '', text = ''] = fragment.replace(/^#\/?/, '').split('?')
  const query = new URLSearchParams(text)
  const whole = (name: string): number | undefined => {
    const given = query.get(name) ?? ''
    return /^\d{1,15}$/.test(given) ? Number(given) : undefined
  }
  const span = /^(\d{1,17})-(\d{1,17})$/.exec(query.get('span') ?? '')
  const [from, to] = [Number(span?.[1]), Number(span?.[2])]
  return {
    view: VIEWS.find((view) => view === path) ?? 'fleet',
    at: whole('at'),
    request: whole('request'),
    span: from < to ? [from, to] : undefined,
  }
}
