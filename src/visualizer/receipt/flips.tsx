import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import type { Flip } from '../../replay/flip/flip.ts'
import { client, failure } from '../state/store.ts'
import { scoreText, shortText } from '../state/text.ts'

/** What would have changed a decision: asked for when somebody wants to know, since each answer takes many decisions. */
export const Flips = ({ position, request }: { position: number; request: number }): JSX.Element => {
  const found = useSignal<readonly Flip[] | undefined>(undefined)
  const busy = useSignal(false)
  const ask = (): void => {
    busy.value = true
    client.ask('flips', position, request).then((flips) => {
      found.value = flips
    }).catch((error: unknown) => {
      failure.value = String(error)
    }).finally(() => {
      busy.value = false
    })
  }
  if (found.value === undefined) return <div><button type="button" onClick={ask} disabled={busy.value}>{busy.value ? 'Trying…' : 'What would have changed it?'}</button></div>
  return <FlipTable flips={found.value} />
}

const FlipTable = ({ flips }: { flips: readonly Flip[] }): JSX.Element => {
  const flipping = flips.filter(({ to }) => to !== undefined)
  const none = flips.length - flipping.length
  return (
    <div class="stack" style={{ gap: '4px' }}>
      <h3>What would have changed it</h3>
      <table>
        <thead><tr><th scope="col">change</th><th scope="col" class="number">from</th><th scope="col" class="number">to</th><th scope="col" class="number">by</th><th scope="col">then</th></tr></thead>
        <tbody>
          {flipping.map((flip) => (
            <tr key={`${flip.profile}${flip.kind}${flip.name}${flip.endpoint}`}>
              <td class="what">{flip.kind === 'weight' ? `weight of ${flip.name}` : flip.name} <span class="quiet small nowrap">{flip.endpoint === '' ? flip.profile : shortText(flip.endpoint)}</span></td>
              <td class="number">{scoreText(flip.from)}</td>
              <td class="number">{scoreText(flip.to ?? 0)}</td>
              <td class="number">{Math.round(flip.relative * 1000) / 10} %</td>
              <td class={flip.picks.includes(',') ? '' : 'nowrap'}>{shortText(flip.picks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="small quiet">{flipping.length === 0 ? 'None: ' : ''}{none} of {flips.length} weights and attributes change nothing within 64 times their size. Each value was tried: the whole decision was made again, deciders included, draws held.</div>
    </div>
  )
}
