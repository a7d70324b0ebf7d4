import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { MARKS } from '../../replay/timeline/timeline.ts'
import type { Divergence } from '../../replay/divergence.ts'
import { client, failure, story } from '../state/store.ts'

/** Where a record is decided otherwise now: field by field what the journal says and what the code says, and the likely cause. */
export const Difference = ({ position }: { position: number }): JSX.Element | null => {
  const fields = useSignal<readonly Divergence[]>([])
  useSignalEffect(() => {
    if (!diverges(position)) return
    client.ask('differences', position).then((found) => {
      fields.value = found
    }).catch((error: unknown) => {
      failure.value = String(error)
    })
  })
  const info = story.value?.info
  if (info?.divergence === undefined || !diverges(position)) return null
  const first = info.divergence.position === position
  const rows = fields.value.length > 0 || !first ? fields.value : [info.divergence]
  return (
    <div class="card stack" role="alert">
      <h3 class="bad">{first ? 'The first difference' : 'A difference'}</h3>
      <table>
        <thead><tr><th scope="col">field</th><th scope="col">journal says</th><th scope="col">code now says</th></tr></thead>
        <tbody>{rows.map(({ field, journalSays, codeSays }) => <tr key={field}><td class="mono">{field}</td><td class="mono what">{journalSays}</td><td class="mono what">{codeSays}</td></tr>)}</tbody>
      </table>
      {first ? <p style={{ margin: 0 }}>{info.cause}</p> : null}
    </div>
  )
}

const diverges = (position: number): boolean => {
  const current = story.value
  if (current === undefined) return false
  const { records, info } = current
  return info.divergence?.position === position || ((records.marks[position - records.first] ?? 0) & MARKS.diverged) !== 0
}
