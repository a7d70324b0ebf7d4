import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder of the test's own, and how to remove it. */
export function temporaryFolder(): { readonly path: string; readonly file: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-journal-'))
  return { path, file: join(path, 'journal.sqlite'), remove: () => rmSync(path, { recursive: true, force: true }) }
}
