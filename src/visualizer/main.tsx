import { render } from 'preact'
import { App } from './app.tsx'
import './look/design.css'
import './look/layout.css'
import { listenForKeys } from './state/keys.ts'
import { failure, open, progress } from './state/store.ts'
import { placeOf } from './state/link.ts'
import { addressInPage } from './state/page-address.ts'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
listenForKeys()

// A page opened from a file has no server behind it: it waits for a journal to be dropped on it.
if (location.protocol === 'file:') progress.value = undefined
else {
  const { at } = placeOf(location.hash)
  open({ kind: 'server', url: addressInPage('api'), position: at }).catch((error: unknown) => {
    failure.value = String(error)
  })
}

addEventListener('dragover', (event) => event.preventDefault())
addEventListener('drop', (event) => {
  event.preventDefault()
  const [file] = event.dataTransfer?.files ?? []
  if (file !== undefined) void file.arrayBuffer().then((bytes) => open({ kind: 'file', name: file.name, bytes }))
})
