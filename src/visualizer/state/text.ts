/** A length of time, from microseconds, in the unit that needs the fewest digits. */
export const durationText = (us: number): string => {
  if (Number.isNaN(us)) return '–'
  const size = Math.abs(us)
  if (size < 1000) return `${Math.round(us)} µs`
  if (size < 1e6) return `${trimmed(us / 1000)} ms`
  if (size < 60e6) return `${trimmed(us / 1e6)} s`
  if (size < 3600e6) return `${trimmed(us / 60e6)} min`
  return `${trimmed(us / 3600e6)} h`
}

const trimmed = (value: number): string => String(Number(value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)))

/** Wall time of an instant, to the millisecond, UTC. */
export const timeText = (us: number): string => (us === 0 || Number.isNaN(us) ? '–' : new Date(Math.floor(us / 1000)).toISOString().slice(11, 23))

/** A whole number with thin gaps between thousands. */
export const countText = (value: number): string => String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')

/** A score or weight: four decimals at most. */
export const scoreText = (value: number): string => String(Math.round(value * 10_000) / 10_000)

/** Ids of endpoints without the namespace that nobody set, also within a text. */
export const shortText = (text: string): string => text.replaceAll(/(^|[^\w/])default\//g, '$1')

/** Words of an input's kind: `requestReceived` as "request received". */
export const kindText = (kind: string): string => kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
