/** The shortest text that Go's durations read back: "400ms", "1m30s", "24h". */
export const durationText = (ms: number): string => {
  if (ms === 0) return '0s'
  if (ms < 0) return `-${durationText(-ms)}`
  if (!Number.isInteger(ms)) return `${String(ms)}ms`
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = Math.floor((ms % 60_000) / 1000)
  const rest = ms % 1000
  const parts = [hours === 0 ? '' : `${String(hours)}h`, minutes === 0 ? '' : `${String(minutes)}m`, seconds === 0 ? '' : `${String(seconds)}s`]
  return parts.join('') + (rest === 0 ? '' : `${String(rest)}ms`)
}
