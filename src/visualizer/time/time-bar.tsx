import { useComputed } from '@preact/signals'
import type { JSX } from 'preact'
import { MARKS } from '../../replay/timeline/timeline.ts'
import { at, firstPosition, following, goTo, goToArrival, goToMark, goToSlow, goToStep, lastPosition, look, stepping, story } from '../state/store.ts'
import { kindText, timeText } from '../state/text.ts'
import { density } from './density.ts'

const BINS = 240

/** How busy the journal was: drawn once for a story, not at every step through it. */
const densityDrawn = (): JSX.Element | null => {
  const records = story.value?.records
  if (records === undefined) return null
  const { rates, marked } = density(records.atUs, records.marks, MARKS.rejected | MARKS.expired | MARKS.diverged, BINS)
  return (
    <svg viewBox={`0 0 ${BINS} 22`} preserveAspectRatio="none" aria-hidden="true">
      {rates.map((rate, i) => <rect key={i} x={i} width={0.86} y={22 - rate * 20} height={rate * 20} fill={(marked[i] ?? 0) > 0 ? 'var(--bad)' : 'var(--decode-wait)'} />)}
    </svg>
  )
}

/** The scrubber, and the ways to step and jump. */
export const TimeBar = (): JSX.Element => {
  const drawn = useComputed(densityDrawn)
  const jump = (label: string, key: string, run: () => void, disabled = false): JSX.Element => <button type="button" title={`${label} (${key})`} disabled={disabled} onClick={run}>{label}</button>
  return (
    <footer class="time" aria-label="Time">
      <div class="scrub">
        {drawn.value}
        <input type="range" aria-label="Position" min={firstPosition.value} max={lastPosition.value} value={at.value} onInput={(event) => goTo(event.currentTarget.valueAsNumber)} />
      </div>
      <div class="row">
        <button type="button" aria-label="One record back" title="One record back (←)" onClick={() => goTo(at.value - 1)}>←</button>
        <button type="button" aria-label="One record on" title="One record on (→)" onClick={() => goTo(at.value + 1)}>→</button>
        <strong class="nowrap">{at.value}</strong><span class="quiet nowrap">of {lastPosition.value}, {timeText(look.value?.atUs ?? 0)} UTC, {kindText(look.value?.kind ?? '')}</span>
        <span class="grow" />
        <span class="quiet small">next</span>
        {jump('request', 'n', () => goToArrival(1))}
        {jump('transition', '.', () => goToStep(1), stepping.value === undefined)}
        {jump('rejection', 'r', () => goToMark('rejected', 1))}
        {jump('expiry', 'e', () => goToMark('expired', 1))}
        {jump('slow', 's', () => goToSlow(1))}
        {jump('divergence', 'd', () => goToMark('diverged', 1))}
        {story.value?.info.live === true ? <button type="button" aria-pressed={following.value} onClick={() => { following.value = !following.value; if (following.value) at.value = lastPosition.value }}>{following.value ? 'Live' : 'Paused'}</button> : null}
      </div>
    </footer>
  )
}
