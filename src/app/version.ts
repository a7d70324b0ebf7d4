import { readFileSync } from 'node:fs'
import { PACKAGE_ROOT } from './package-root.ts'

/** The version of signalbox. */
export const VERSION: string = (JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as { readonly version: string }).version
