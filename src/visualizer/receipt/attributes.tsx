import { signal, useSignal, useSignalEffect } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import type { AttributeUse } from '../../replay/flip/attributes-used.ts'
import { client, failure } from '../state/store.ts'
import { durationText, shortText } from '../state/text.ts'
import { attributeRows } from './attribute-rows.ts'

/** Whoever looks at the attributes of one decision looks at those of the next. */
const shown: Signal<boolean> = signal(false)

/** What the decision went by: the attributes of each pick and runner-up, and how old each was. */
export const Attributes = ({ position, request }: { position: number; request: number }): JSX.Element => {
  const found = useSignal<readonly AttributeUse[] | undefined>(undefined)
  useSignalEffect(() => {
    if (!shown.value || found.peek() !== undefined) return
    client.ask('attributes', position, request).then((uses) => {
      found.value = uses
    }).catch((error: unknown) => {
      failure.value = String(error)
    })
  })
  return (
    <details open={shown.value} onToggle={(event) => { shown.value = event.currentTarget.open }}>
      <summary>Attributes used, and how old each was</summary>
      {found.value === undefined ? null : <AttributeTable uses={found.value} />}
    </details>
  )
}

const AttributeTable = ({ uses }: { uses: readonly AttributeUse[] }): JSX.Element => (
  uses.length === 0 ? <p class="quiet small">None of the plugins that decided reads any.</p> : (
    <table>
      <thead><tr><th scope="col">attribute</th><th scope="col">endpoint</th><th scope="col">value</th><th scope="col" class="number">age</th></tr></thead>
      <tbody>
        {attributeRows(uses).map(({ name, endpoint, value, ageUs, readers }) => (
          <tr key={`${name}${endpoint}`} title={`read by ${readers.join(', ')}`}>
            <td>{name}</td><td class="nowrap">{shortText(endpoint)}</td><td class="small">{value}</td>
            <td class="number quiet">{ageUs < 0 ? 'never heard' : ageUs === 0 ? 'made for it' : durationText(ageUs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
)
