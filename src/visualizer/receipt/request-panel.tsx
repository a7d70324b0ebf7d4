import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { at, choose, chosen, client, failure, goTo, story } from '../state/store.ts'
import { kindText, shortText, timeText } from '../state/text.ts'
import type { RequestStory } from '../worker/messages.ts'
import { ReceiptView } from './receipt-view.tsx'

/** The request that was chosen: its receipts, and what happened to it. */
export const RequestPanel = (): JSX.Element | null => {
  const told = useSignal<RequestStory | undefined>(undefined)
  useSignalEffect(() => {
    const request = chosen.value
    if (request === undefined || story.value === undefined) {
      told.value = undefined
      return
    }
    client.ask('story', request).then((answer) => {
      if (chosen.value === request) told.value = answer
    }).catch((error: unknown) => {
      failure.value = String(error)
    })
  })
  const current = told.value
  if (chosen.value === undefined) return null
  return (
    <aside class="side stack" aria-label="Request">
      <div class="row">
        <h2>{current?.id === '' ? `Request ${chosen.value}` : (current?.id ?? `Request ${chosen.value}`)}</h2>
        <span class="grow" />
        <button type="button" aria-label="Close the request" onClick={() => choose(undefined)}>×</button>
      </div>
      {current === undefined ? <p class="quiet">Looking…</p> : (
        <>
          {current.decided.length === 0 ? <p class="quiet">Its decision is before what this page holds.</p> : null}
          {current.decided.map(({ receipt, sentence, recordedOnly }) => <ReceiptView key={receipt.position} receipt={receipt} sentence={sentence} recordedOnly={recordedOnly} />)}
          <h3>What happened</h3>
          <table>
            <thead><tr><th scope="col">position</th><th scope="col">time</th><th scope="col">record</th><th scope="col" /></tr></thead>
            <tbody>
              {current.records.map((record) => (
                <tr key={record.position} class={record.position === at.value ? 'chosen' : ''}>
                  <td><button type="button" class="plain" onClick={() => goTo(record.position)}>{record.position}</button></td>
                  <td class="nowrap">{timeText(record.atUs)}</td>
                  <td class="nowrap">{kindText(record.kind)}</td>
                  <td class="quiet small">{shortText(record.detail)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </aside>
  )
}
