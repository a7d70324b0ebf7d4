import type { JSX } from 'preact'
import type { ForkStretch } from '../../replay/fork/over-time.ts'
import { countText, timeText } from '../state/text.ts'
import { linePath } from './line.ts'

const WIDTH = 300
const HEIGHT = 64

interface Series {
  readonly title: string
  readonly recorded: readonly number[]
  readonly forked: readonly number[]
  readonly text: (value: number) => string
}

/** How load and hits shift over time: what was recorded beside what the fork does. */
export const ForkCharts = ({ stretches }: { stretches: readonly ForkStretch[] }): JSX.Element | null => {
  if (stretches.length < 2) return null
  const share = (hits: number, tokens: number): number => (tokens === 0 ? NaN : hits / tokens)
  const series: readonly Series[] = [
    { title: 'in flight on the busiest endpoint', text: countText, recorded: stretches.map(({ inFlightMost }) => inFlightMost.recorded), forked: stretches.map(({ inFlightMost }) => inFlightMost.forked) },
    { title: 'prompt tokens found in a cache', text: (value) => `${Math.round(value * 100)} %`, recorded: stretches.map((each) => share(each.hitTokens.recorded, each.promptTokens)), forked: stretches.map((each) => share(each.hitTokens.forked, each.promptTokens)) },
    { title: 'decisions that change', text: (value) => `${Math.round(value * 100)} %`, recorded: [], forked: stretches.map(({ changed, decisions }) => share(changed, decisions)) },
  ]
  return (
    <div class="forkcharts">
      {series.map((each) => <Chart key={each.title} {...each} from={timeText(stretches[0]?.fromUs ?? NaN).slice(0, 8)} to={timeText(stretches.at(-1)?.fromUs ?? NaN).slice(0, 8)} />)}
    </div>
  )
}

const Chart = ({ title, recorded, forked, text, from, to }: Series & { from: string; to: string }): JSX.Element => {
  const most = Math.max(0, ...[...recorded, ...forked].filter((value) => !Number.isNaN(value)))
  return (
    <figure class="card">
      <figcaption><h3>{title}</h3></figcaption>
      <svg viewBox={`0 -2 ${WIDTH} ${HEIGHT + 4}`} preserveAspectRatio="none" role="img" aria-label={`${title}, recorded and forked, up to ${text(most)}`}>
        <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} class="ground" />
        <path d={linePath(recorded, most, WIDTH, HEIGHT)} class="recorded" />
        <path d={linePath(forked, most, WIDTH, HEIGHT)} class="forked" />
      </svg>
      <div class="ends quiet small"><span>{from}</span><span>up to {text(most)}</span><span>{to}</span></div>
    </figure>
  )
}

const SPARK_WIDTH = 140
const SPARK_HEIGHT = 18

/** One endpoint's load over time, recorded and forked. */
export const Spark = ({ recorded, forked, most }: { recorded: readonly number[]; forked: readonly number[]; most: number }): JSX.Element => (
  <svg class="spark" width={SPARK_WIDTH} height={SPARK_HEIGHT + 2} viewBox={`0 -1 ${SPARK_WIDTH} ${SPARK_HEIGHT + 2}`} aria-hidden="true">
    <path d={linePath(recorded, most, SPARK_WIDTH, SPARK_HEIGHT)} class="recorded" />
    <path d={linePath(forked, most, SPARK_WIDTH, SPARK_HEIGHT)} class="forked" />
  </svg>
)

/** Which line is which. */
export const ForkLegend = (): JSX.Element => <div class="legend forklegend"><span><i class="recorded" />recorded</span><span><i class="forked" />forked</span></div>
